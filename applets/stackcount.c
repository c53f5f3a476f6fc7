// SPDX-License-Identifier: GPL-2.0-or-later
/* stackcount: which stacks lead to an event, and how often; counted in the kernel. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "applets/applet.h"
#include "bpf/abi.h"
#include "core/kernel/cpus.h"
#include "core/options/trace_options.h"
#include "core/report/output.h"
#include "core/run/counting.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"

struct stackcount_settings {
	struct trace_options trace;
	struct probe_options probe;
	struct sink_options sink;
	uint64_t cpu; /* or ALL_CPUS */
	bool timestamp;
	bool per_process;
};

static const struct stackcount_settings defaults = {
	.trace = TRACE_OPTIONS_DEFAULTS,
	.sink = SINK_OPTIONS_DEFAULTS,
	.cpu = ALL_CPUS,
};

#define OFFSET(field) offsetof(struct stackcount_settings, field)
/* clang-format off */
static const struct option_spec options[] = {
	PROBE_OPTION_ROWS(struct stackcount_settings),
	SINK_OPTION_ROWS(struct stackcount_settings),
	TRACE_OPTION_ROWS(struct stackcount_settings, DELIMITED_HELP, VERBOSE_HELP),
	{.letter = 'c', .name = "cpu", .value = "CPU", .type = OPTION_NUMBER,
	 .group = GROUP_TRACED, .offset = OFFSET(cpu), .min = 0, .max = UINT16_MAX,
	 .help = "only this CPU"},
	INTERVAL_OPTION_ROW(struct stackcount_settings),
	DURATION_OPTION_ROW(struct stackcount_settings),
	{.letter = 'T', .name = "timestamp", .type = OPTION_FLAG,
	 .group = GROUP_SHOWN, .offset = OFFSET(timestamp),
	 .help = "print the time of day with each interval"},
	{.letter = 'P', .name = "perpid", .type = OPTION_FLAG,
	 .group = GROUP_SHOWN, .offset = OFFSET(per_process),
	 .help = "with -K, too, count stacks of different processes separately"},
	TABLE_OPTION_ROWS(struct stackcount_settings),
	{0},
};
/* clang-format on */

static int check(const void *settings, struct error *error)
{
	const struct stackcount_settings *stackcount = settings;

	if (stackcount->timestamp && stackcount->trace.folded)
		return error__set(error, -EINVAL,
				  "-T and -f exclude each other: folded output holds nothing but "
				  "stacks");
	if (trace_options__check(&stackcount->trace, "leave both out", error) ||
	    sink_options__check(&stackcount->sink, &stackcount->trace, error))
		return -EINVAL;
	if (stackcount->probe.list && stackcount->sink.paths.nr)
		return error__set(error, -EINVAL,
				  "-l and -o exclude each other: the list goes to stdout");
	if (stackcount->timestamp &&
	    !sink_options__have_format(&stackcount->sink, &stackcount->trace, FORMAT_text))
		return error__set(error, -EINVAL,
				  "-T and --format exclude each other: only text has a line for "
				  "the time");
	return probe_options__check(&stackcount->probe, &stackcount->trace, error);
}

static bool keys_have_process(const struct stackcount_settings *settings)
{
	return !settings->trace.kernel_stacks_only || settings->per_process ||
	       settings->trace.threads;
}

static void print_process(FILE *out, const char *comm, const char *id)
{
	fprintf(out, "    %s [%s]", comm, id);
}

static const struct stack_layout layout = {
	.frame_indent = "  ",
	.count_indent = "    ",
	.print_process = print_process,
	.delimits_always = true,
};

static void print_header(FILE *out, const struct counting *counting)
{
	const struct stackcount_settings *settings = counting->settings;

	fprintf(out, "Tracing %zu functions for \"%s\"... Hit Ctrl-C to end.\n",
		tracing__attached(&counting->tracing), settings->probe.pattern);
}

static void print_time_of_day(FILE *out, const struct counting *counting)
{
	time_t now = time(NULL);
	char clock[16] = "";

	strftime(clock, sizeof(clock), "%H:%M:%S\n", localtime(&now));
	(void)counting;
	fputs(clock, out);
}

/* Begin to detach, and say how long it will take if that is a second or more. */
static int detach(const struct counting *counting, struct error *error)
{
	size_t left;
	uint64_t wait = attachment__begin_detach(counting->tracing.probes.attachment, &left);

	if (!counting__talks(counting))
		return 0;
	if (wait >= NANOSECONDS)
		printf("Detaching %zu probes, about %.0f s\n", left, (double)wait / NANOSECONDS);
	else
		puts("Detaching...");
	return output__finish(stdout, error);
}

/* Open, load and attach; then events are counted. */
static int start(struct counting *counting, const struct stackcount_settings *settings,
		 struct error *error)
{
	struct tracing *tracing = &counting->tracing;
	int err = tracing__open(tracing, error);

	if (!err && settings->cpu != ALL_CPUS)
		err = cpu__check_online(settings->cpu, "-c", error);
	if (err)
		return err;
	tracing->config->cpu = (uint32_t)settings->cpu;
	tracing->config->key_by_process = keys_have_process(settings);
	err = counting__load(counting, error);
	return err ? err : counting__start(counting, error);
}

static int run(const void *argument, struct error *error)
{
	const struct stackcount_settings *settings = argument;
	const struct trace_options *trace = &settings->trace;
	CLEANUP(counting__release)
	struct counting counting = {
		.tracing.program = &counting_program,
		.tracing.options = trace,
		.tracing.probe = &settings->probe,
		.tracing.leaves_stdout = !sink_options__have_stdout(&settings->sink),
		.tracing.keeps_stdout = settings->sink.paths.nr > 0,
		.shown.layout = &layout,
		.shown.unit = "events",
		.shown.comms = keys_have_process(settings),
		.shown.processes =
			keys_have_process(settings) && (trace->pids.nr != 1 || trace->threads),
		.sink = &settings->sink,
		.settings = settings,
		.print_header = print_header,
		.print_head = settings->timestamp ? print_time_of_day : NULL,
	};
	int err;

	if (settings->probe.list)
		return tracing__list(&counting.tracing, error);
	err = start(&counting, settings, error);
	if (err)
		return err;
	err = counting__run(&counting, error);
	if (!err)
		err = detach(&counting, error);
	return err ? err : tracing__status(&counting.tracing);
}

const struct applet applet_stackcount = {
	.command =
		{
			.name = "stackcount",
			.summary = "Count events by the stacks that lead to them.",
			.options = options,
			.run_offset = OFFSET(trace.command),
			.examples =
				"    stackcount submit_bio            # stacks that lead to submit_bio()\n"
				"    stackcount -d ip_output          # with a delimiter between kernel and user\n"
				"    stackcount -s ip_output          # with offsets\n"
				"    stackcount 'tcp_send*'           # all functions that match\n"
				"    stackcount -Ti 5 ip_output       # every 5 seconds, with the time\n"
				"    stackcount -p 185 c:malloc       # malloc() of its libc\n"
				"    stackcount -U c:malloc -- ls -l  # run ls, and count its calls\n"
				"    stackcount 't:syscalls:sys_enter_*'   # all system calls\n"
				"    stackcount -p 185 'u:node:*'     # all USDT probes of node\n"
				"    stackcount -l 'c:str*'           # what is there to be traced?\n"
				"    stackcount -K t:sched:sched_switch    # only kernel stacks\n"
				"    stackcount -D 10 -o m.svg -p 185 c:malloc   # ten seconds, as a flame graph\n"
				"    stackcount -D 10 -f c:malloc     # folded output: a line for each stack\n",
		},
	.defaults = &defaults,
	.settings_size = sizeof(defaults),
	.check = check,
	.run = run,
};
