// SPDX-License-Identifier: GPL-2.0-or-later
/* forks: the smallest applet, for docs/adding-an-applet.md: who starts processes, by stack. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "applets/applet.h"
#include "core/options/trace_options.h"
#include "core/run/counting.h"
#include "sym/util/cleanup.h"

struct forks_settings {
	struct trace_options trace;
	struct sink_options sink;
};

static const struct forks_settings defaults = {
	.trace = TRACE_OPTIONS_DEFAULTS,
	.sink = SINK_OPTIONS_DEFAULTS,
};

static const struct option_spec options[] = {
	DURATION_OPTION_ROW(struct forks_settings),
	TRACE_OPTION_ROWS(struct forks_settings, DELIMITED_HELP, VERBOSE_HELP),
	TABLE_OPTION_ROWS(struct forks_settings),
	SINK_OPTION_ROWS(struct forks_settings),
	{0},
};

static int check(const void *settings, struct error *error)
{
	const struct forks_settings *forks = settings;

	if (trace_options__check(&forks->trace, "leave both out", error))
		return -EINVAL;
	return sink_options__check(&forks->sink, &forks->trace, error);
}

static void print_header(FILE *out, const struct counting *counting)
{
	(void)counting;
	fputs("Counting processes that are started... Hit Ctrl-C to end.\n", out);
}

static void print_process(FILE *out, const char *comm, const char *id)
{
	fprintf(out, "  %s [%s]", comm, id);
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
		.tracing.program = &counting_program,
		.tracing.options = &settings->trace,
		.tracing.probe = &probe,
		.tracing.leaves_stdout = !sink_options__have_stdout(&settings->sink),
		.sink = &settings->sink,
		.print_header = print_header,
		.shown.layout = &layout,
		.shown.unit = "processes",
		.shown.comms = true,
		.shown.processes = true,
	};
	int err = tracing__open(&counting.tracing, error);

	if (err)
		return err;
	counting.tracing.config->key_by_process = true;
	err = counting__load(&counting, error);
	if (!err)
		err = counting__start(&counting, error);
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
