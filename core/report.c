// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/util/error.h"
#include "core/util/message.h"

int report__read(struct report *report, const struct trace_maps *maps,
		 struct symbolizer *symbolizer, struct error *error)
{
	int err = accounting__read(&report->accounting, maps, error);

	if (!err)
		err = stack_counts__read(&report->counts, maps, error);
	if (err)
		return err;
	if (frame_names__find_all(&report->names, &report->counts, symbolizer))
		return error__set(error, -ENOMEM, "cannot name the stacks: out of memory");
	return 0;
}

void report__release(struct report *report)
{
	stack_counts__release(&report->counts);
	frame_names__release(&report->names);
}

static void say_kernel_error(int code)
{
	if (code == -EACCES)
		message("kernel functions have no names: the kernel hides its addresses; "
			"set kernel.kptr_restrict to 0, or run with CAP_SYSLOG");
	else if (code)
		message("kernel functions have no names: %s; is /proc mounted?", strerror(-code));
}

static void say_user_errors(const struct frame_names *names)
{
	if (names->user_error)
		message("functions of programs have no names: %s", strerror(-names->user_error));
	if (names->unanswered)
		message("some of what processes have mapped was too large or too slow to read, or "
			"did not answer (%zu %s); functions there lack names",
			names->unanswered, names->unanswered == 1 ? "time" : "times");
}

void report__say_what_is_missing(const struct report *report, bool stats)
{
	const struct accounting *accounting = &report->accounting;
	uint64_t hidden = accounting->events.n[EVENTS_FILTERED_PIDNS];
	char line[512];

	say_kernel_error(report->names.kernel_error);
	say_user_errors(&report->names);
	if (hidden)
		message("%" PRIu64 " events are of processes that this PID namespace does not "
			"see, and are not shown; run in the host's to see them",
			hidden);
	if (accounting__lost(accounting)) {
		accounting__format_loss(accounting, line, sizeof(line));
		fprintf(stderr, "WARNING: %s\n", line);
	}
	if (stats) {
		accounting__format_stats(accounting, line, sizeof(line));
		message("%s", line);
	}
}
