// SPDX-License-Identifier: GPL-2.0-or-later
/* forks: the smallest applet, for docs/adding-an-applet.md: who starts processes, by stack. */
#include <inttypes.h>
#include <stdio.h>

#include "applets/applet.h"
#include "core/options/trace_options.h"
#include "core/run/counting.h"
#include "stackcount.skel.h"
#include "sym/util/cleanup.h"

TRACE_PROGRAM(stackcount);

struct forks_settings {
	struct trace_options trace;
};

static const struct forks_settings defaults = {.trace = TRACE_OPTIONS_DEFAULTS};

static const struct option_spec options[] = {
	DURATION_OPTION_ROW(struct forks_settings),
	TRACE_OPTION_ROWS(struct forks_settings, DELIMITED_HELP, VERBOSE_HELP),
	TABLE_OPTION_ROWS(struct forks_settings),
	{0},
};

static int check(const void *settings, struct error *error)
{
	const struct forks_settings *forks = settings;

	return trace_options__check(&forks->trace, "forks", "leave both out", error);
}

static void print_process(FILE *out, const char *comm, uint32_t tgid)
{
	fprintf(out, "  %s [%" PRIu32 "]\n", comm, tgid);
}

static const struct stack_layout layout = {
	.frame_indent = "  ",
	.count_indent = "    ",
	.print_process = print_process,
};

static int run(const void *argument, struct error *error)
{
	static const struct probe_options probe = {.pattern = "t:sched:sched_process_fork"};
	const struct forks_settings *settings = argument;
	CLEANUP(counting__release)
	struct counting counting = {
		.tracing.program = &stackcount_program,
		.tracing.options = &settings->trace,
		.tracing.probe = &probe,
		.writer.layout = &layout,
		.writer.comms = true,
		.writer.processes = true,
	};
	int err = tracing__open(&counting.tracing, error);

	if (err)
		return err;
	counting.tracing.config->key_by_process = true;
	err = counting__load(&counting, error);
	if (!err)
		err = tracing__attach(&counting.tracing, error);
	return err ? err : counting__run(&counting, error);
}

const struct applet applet_forks = {
	.command.name = "forks",
	.command.summary = "Count the processes that are started, by stack.",
	.command.options = options,
	.command.examples = "    forks -D 5    # for five seconds\n",
	.defaults = &defaults,
	.settings_size = sizeof(defaults),
	.check = check,
	.run = run,
};
