// SPDX-License-Identifier: GPL-2.0-or-later
/* offcputime: where threads wait, and for how long, counted by stack in the kernel. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "applets/applet.h"
#include "core/options/trace_options.h"
#include "core/run/counting.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/number.h"

struct offcputime_settings {
	struct trace_options trace;
	struct sink_options sink;
	uint64_t min, max; /* microseconds */
	uint64_t state;	   /* or WAIT_ANY_STATE */
	bool user_threads, kernel_threads;
	bool counts;
	bool pending;
};

#define MICROSECOND	 1000 /* nanoseconds */
#define MICROSECONDS_MAX (WAIT_LONGEST / MICROSECOND)

static const struct offcputime_settings defaults = {
	.trace = TRACE_OPTIONS_DEFAULTS_TIDS('t'),
	.sink = SINK_OPTIONS_DEFAULTS,
	.max = MICROSECONDS_MAX,
	.state = WAIT_ANY_STATE,
};

/* As ps(1) calls them; numbers as in include/linux/sched.h. */
static const char *const state_letters[] = {"R", "S", "D", "T", "t", NULL};
static const uint64_t state_numbers[] = {0, 1, 2, 4, 8};

#define OFFSET(field) offsetof(struct offcputime_settings, field)
/* clang-format off */
static const struct option_spec options[] = {
	SINK_OPTION_ROWS(struct offcputime_settings),
	TRACE_OPTION_ROWS(struct offcputime_settings, DELIMITED_HELP, VERBOSE_HELP),
	{.letter = 't', .name = "tid", .value = "TID[,TID...]", .type = OPTION_PIDS,
	 .group = GROUP_TRACED, .offset = OFFSET(trace.tids),
	 .help = "only these threads, each known by its TID, which stands in the output; the trace "
		 "ends when all of them have ended"},
	{.letter = 'u', .name = "user-threads-only", .type = OPTION_FLAG,
	 .group = GROUP_TRACED, .offset = OFFSET(user_threads),
	 .help = "only threads of programs, not those of the kernel"},
	{.letter = 'k', .name = "kernel-threads-only", .type = OPTION_FLAG,
	 .group = GROUP_TRACED, .offset = OFFSET(kernel_threads),
	 .help = "only threads of the kernel"},
	{.letter = 'm', .name = "min-block-time", .value = "MIN", .type = OPTION_NUMBER,
	 .group = GROUP_TRACED, .offset = OFFSET(min), .min = 1, .max = MICROSECONDS_MAX,
	 .help = "only waits of so many microseconds or more"},
	{.letter = 'M', .name = "max-block-time", .value = "MAX", .type = OPTION_NUMBER,
	 .group = GROUP_TRACED, .offset = OFFSET(max), .min = 1, .max = MICROSECONDS_MAX,
	 .help = "only waits of so many microseconds or less"},
	{.name = "state", .value = "STATE", .type = OPTION_NUMBER,
	 .group = GROUP_TRACED, .offset = OFFSET(state), .min = 0, .max = UINT32_MAX,
	 .choices = state_letters, .numbers = state_numbers,
	 .help = "only waits in this state, a letter of ps: R preempted, S interruptible, D "
		 "uninterruptible, T or t stopped; or a number of the kernel"},
	{.name = "pending", .type = OPTION_FLAG,
	 .group = GROUP_TRACED, .offset = OFFSET(pending),
	 .help = "also waits that begin in the trace and last at its end, apart: [still waiting]"},
	{.name = "count", .type = OPTION_FLAG,
	 .group = GROUP_SHOWN, .offset = OFFSET(counts),
	 .help = "also how often they waited; where there is one number, only that"},
	INTERVAL_OPTION_ROW(struct offcputime_settings),
	TABLE_OPTION_ROWS(struct offcputime_settings),
	{.value = "duration", .type = OPTION_SECONDS,
	 .offset = OFFSET(trace.duration), .bare_offset = OFFSET(trace.bare_duration),
	 .help = "how long to trace, in seconds (default: until Ctrl-C)"},
	{0},
};
/* clang-format on */

static int check(const void *settings, struct error *error)
{
	const struct offcputime_settings *offcputime = settings;
	const struct trace_options *trace = &offcputime->trace;
	bool one_kind = offcputime->user_threads || offcputime->kernel_threads;

	if (offcputime->user_threads && offcputime->kernel_threads)
		return error__set(error, -EINVAL,
				  "-u and -k exclude each other: leave both out for all threads");
	if (one_kind && (trace->pids.nr || trace->tids.nr || trace->command))
		return error__set(error, -EINVAL, "-%c is for all processes, not for chosen ones",
				  offcputime->user_threads ? 'u' : 'k');
	if (offcputime->kernel_threads && trace->user_stacks_only)
		return error__set(
			error, -EINVAL,
			"-k and -U exclude each other: threads of the kernel have no user "
			"stacks");
	if (offcputime->min > offcputime->max)
		return error__set(error, -EINVAL,
				  "-m %" PRIu64 " is more than -M %" PRIu64 ": no wait is both",
				  offcputime->min, offcputime->max);
	if (trace_options__check(trace, "leave both out", error) ||
	    trace_options__check_duration(trace, error))
		return -EINVAL;
	return sink_options__check(&offcputime->sink, trace, error);
}

static void print_header(FILE *out, const struct counting *counting)
{
	static const struct id_style style = {"PIDs ", "TIDs ", ",", ""};
	const struct offcputime_settings *settings = counting->settings;

	fputs("Tracing off-CPU time (us) of ", out);
	trace_options__print_whose(&settings->trace,
				   settings->user_threads   ? "user threads" :
				   settings->kernel_threads ? "kernel threads" :
							      "all threads",
				   &style, out);
	trace_options__print_duration(&settings->trace, out);
}

static void print_thread(FILE *out, const char *comm, const char *id)
{
	fprintf(out, "    %-16s %s (%s)", "-", comm, id);
}

static const struct stack_layout layout = {
	.frame_indent = "    ",
	.count_indent = "        ",
	.print_process = print_thread,
};

static int start(struct counting *counting, const struct offcputime_settings *settings,
		 struct error *error)
{
	const struct wait_settings wanted = {
		.min = settings->min * MICROSECOND,
		.max = settings->max * MICROSECOND,
		.state = settings->state,
		.threads = settings->user_threads   ? THREADS_OF_USERS :
			   settings->kernel_threads ? THREADS_OF_KERNEL :
						      THREADS_OF_ALL,
		.pending = settings->pending,
	};
	struct tracing *tracing = &counting->tracing;
	int err = tracing__open(tracing, error);

	if (err)
		return err;
	tracing->config->skip_idle = true;
	err = waits__configure(counting->waits, &wanted, tracing->object, tracing->config, error);
	if (!err)
		err = counting__load(counting, error);
	return err ? err : counting__start(counting, error);
}

static int run(const void *argument, struct error *error)
{
	const struct offcputime_settings *settings = argument;
	CLEANUP(waits__release) struct waits waits = {0};
	CLEANUP(counting__release)
	struct counting counting = {
		.tracing.program = &counting_program,
		.tracing.options = &settings->trace,
		.tracing.leaves_stdout = !sink_options__have_stdout(&settings->sink),
		.tracing.keeps_stdout = settings->sink.paths.nr > 0,
		.waits = &waits,
		.sink = &settings->sink,
		.settings = settings,
		.print_header = print_header,
		.shown.layout = &layout,
		.shown.unit = "waits",
		.shown.cost = "offcpu",
		.shown.cost_unit = "nanoseconds",
		.shown.counts_times = settings->counts,
		.shown.comms = true,
		.shown.processes = true,
		.shown.threads = true,
	};
	int err = start(&counting, settings, error);

	if (!err)
		err = counting__run(&counting, error);
	return err ? err : tracing__status(&counting.tracing);
}

const struct applet applet_offcputime = {
	.command =
		{
			.name = "offcputime",
			.summary = "Count where threads wait, and for how long, by stack.",
			.options = options,
			.run_offset = OFFSET(trace.command),
			.examples =
				"    offcputime                # where all threads wait, until Ctrl-C: NAME (TID)\n"
				"    offcputime 5              # for 5 seconds only\n"
				"    offcputime -o w.svg 5     # a flame graph\n"
				"    offcputime -f 5           # folded output: a line for each stack\n"
				"    offcputime -m 1000        # only waits of a millisecond or more\n"
				"    offcputime -M 10000       # only waits of 10 milliseconds or less\n"
				"    offcputime -- make        # run make, and trace it with all that it starts\n"
				"    offcputime -p 185         # only threads of process 185, with their TIDs\n"
				"    offcputime --pending -p 185 5   # also waits that begin and do not end\n"
				"    offcputime -t 188,120     # only the threads with these TIDs\n"
				"    offcputime -u             # only threads of programs\n"
				"    offcputime -k             # only threads of the kernel\n"
				"    offcputime -U             # only user stacks\n"
				"    offcputime -K             # only kernel stacks\n"
				"    offcputime --state D      # only uninterruptible waits, as for disks\n",
		},
	.defaults = &defaults,
	.settings_size = sizeof(defaults),
	.check = check,
	.run = run,
};
