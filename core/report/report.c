// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/names/naming.h"
#include "core/options/trace_options.h"
#include "core/report/scripts.h"
#include "core/report/tracing_frames.h"
#include "core/trace/cost.h"
#include "core/trace/session.h"
#include "core/unwind/unwinding.h"
#include "sym/types.h"
#include "sym/util/error.h"
#include "sym/util/limits.h"
#include "sym/util/message.h"
#include "sym/util/number.h"

int report__read(struct report *report, const struct trace_maps *maps, uint32_t epoch,
		 struct naming *naming, struct error *error)
{
	const struct frame_sources sources = naming__sources(naming);
	int err = accounting__read(&report->accounting, maps, epoch, error);

	if (!err)
		err = stack_counts__read(&report->counts, maps, epoch, error);
	if (err)
		return err;
	if (frame_names__find_all(&report->names, &report->counts, &sources))
		return error__set(error, -ENOMEM, "cannot name the stacks: out of memory");
	return 0;
}

void report__release(struct report *report)
{
	stack_counts__release(&report->counts);
	frame_names__release(&report->names);
}

static bool is_tracing(const void *context, uint64_t frame, bool return_address)
{
	const char *name;

	if (frame_tag(frame) == FRAME_MARK)
		return false;
	name = frame_names__get(context, NULL, frame, return_address)->name;
	return name && tracing_frame__is(name);
}

void report__hide_tracing(struct report *report)
{
	stack_counts__hide(&report->counts, is_tracing, &report->names);
}

static void say_kernel_error(int code, struct report_said *said)
{
	if (!code || said->kernel_error)
		return;
	said->kernel_error = true;
	if (code == -EACCES)
		message("kernel functions have no names: the kernel hides its addresses; "
			"set kernel.kptr_restrict to 0, or run with CAP_SYSLOG");
	else
		message("kernel functions have no names: %s; is /proc mounted?", strerror(-code));
}

static void say_user_errors(const struct frame_names *names, struct report_said *said)
{
	char hint[LIMIT_HINT_SIZE];

	if (names->user_error && !said->user_error)
		message("functions of programs have no names: %s%s", strerror(-names->user_error),
			limit__hint(names->user_error, hint));
	said->user_error |= names->user_error != 0;
	if (names->unanswered > said->unanswered)
		message("some of what processes have mapped was too large or too slow to read, or "
			"did not answer (%zu %s); functions there lack names",
			names->unanswered, names->unanswered == 1 ? "time" : "times");
	said->unanswered = names->unanswered;
	if (names->lost_files && !said->lost_files)
		message("%zu file%s that programs had mapped could not be opened in time, or did "
			"not answer; functions there lack names",
			names->lost_files, names->lost_files == 1 ? "" : "s");
	said->lost_files |= names->lost_files != 0;
	if (names->incomplete_debug && !said->incomplete_debug)
		message("some debug data is in further files (.dwo, .dwp, or shared by dwz) that "
			"were not found, or are of another build; inlined calls and lines of that "
			"are missing");
	said->incomplete_debug |= names->incomplete_debug;
}

void report__say_scripts(const struct report *report, struct report_said *said)
{
	const char *help = said->scripts ? NULL : scripts__help(&report->counts, &report->names);

	if (help)
		message("%s", help);
	said->scripts |= help != NULL;
}

void report__say_cost(const struct session *session)
{
	struct cost cost;
	char bpf[48] = "unknown";

	session__cost(session, &cost);
	if (cost.bpf_time)
		snprintf(bpf, sizeof(bpf), "%.3f s", (double)cost.bpf_time / NANOSECONDS);
	message("cost: %.2f s of CPU time and %.1f MB in %" PRIu64
		" processes, %s and %.1f MB in BPF programs and maps",
		(double)cost.cpu_time / NANOSECONDS, (double)cost.resident / 1e6, cost.processes,
		bpf, (double)cost.maps / 1e6);
}

void report__say_what_is_missing(const struct report *report, const struct session *session,
				 struct report_said *said)
{
	const struct accounting *accounting = &report->accounting;
	uint64_t hidden = accounting->events.n[EVENTS_FILTERED_PIDNS];
	char line[512];

	say_kernel_error(report->names.kernel_error, said);
	say_user_errors(&report->names, said);
	if (hidden && !said->hidden)
		message("%" PRIu64 " events are of processes that this PID namespace does not "
			"see, and are not shown; run in the host's to see them",
			hidden);
	said->hidden |= hidden != 0;
	if (accounting__lost(accounting)) {
		accounting__format_loss(accounting, line, sizeof(line));
		fprintf(stderr, "WARNING: %s\n", line);
	}
	if (accounting->kernel_counts && accounting->missed)
		fprintf(stderr,
			"WARNING: up to %" PRIu64 " more events were withheld by the kernel, "
			"and are not shown\n",
			accounting->missed);
	if (!session)
		return;
	unwinding__say(session__unwinding(session), &accounting->events,
		       session__options(session)->stats);
	if (session__options(session)->stats) {
		accounting__format_stats(accounting, line, sizeof(line));
		message("%s", line);
		report__say_cost(session);
	}
}
