// SPDX-License-Identifier: GPL-2.0-or-later
/* stackcount: which stacks lead to an event, and how often; counted in the kernel. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "applets/applet.h"
#include "bpf/abi.h"
#include "core/kernel/bpf_error.h"
#include "core/kernel/cpus.h"
#include "core/names/naming.h"
#include "core/options/trace_options.h"
#include "core/probe/probes.h"
#include "core/report/output.h"
#include "core/report/report.h"
#include "core/trace/epochs.h"
#include "core/trace/schedule.h"
#include "core/trace/session.h"
#include "stackcount.skel.h"
#include "sym/sym.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"

struct stackcount_settings {
	struct trace_options trace;
	struct probe_options probe;
	uint64_t cpu;	   /* or ALL_CPUS */
	uint64_t duration; /* nanoseconds; 0: until a signal */
	bool timestamp;
	bool per_process;
};

static const struct stackcount_settings defaults = {
	.trace = TRACE_OPTIONS_DEFAULTS,
	.cpu = ALL_CPUS,
};

#define OFFSET(field) offsetof(struct stackcount_settings, field)
/* clang-format off */
static const struct option_spec options[] = {
	PROBE_OPTION_ROWS(struct stackcount_settings),
	{.letter = 'c', .name = "cpu", .value = "CPU", .type = OPTION_NUMBER,
	 .offset = OFFSET(cpu), .min = 0, .max = UINT16_MAX,
	 .help = "only this CPU"},
	{.letter = 'i', .name = "interval", .value = "INTERVAL", .type = OPTION_SECONDS,
	 .offset = OFFSET(trace.interval),
	 .help = "print, and count anew, every so many seconds"},
	{.letter = 'D', .name = "duration", .value = "DURATION", .type = OPTION_SECONDS,
	 .offset = OFFSET(duration),
	 .help = "how long to trace, in seconds (default: until Ctrl-C)"},
	{.letter = 'T', .name = "timestamp", .type = OPTION_FLAG,
	 .offset = OFFSET(timestamp),
	 .help = "print the time of day with each interval"},
	{.letter = 'P', .name = "perpid", .type = OPTION_FLAG,
	 .offset = OFFSET(per_process),
	 .help = "with -K, too, count stacks of different processes separately"},
	TRACE_OPTION_ROWS(struct stackcount_settings, DELIMITED_HELP, VERBOSE_HELP),
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
				  "stacks; see 'stackcount --help'");
	if (trace_options__check(&stackcount->trace, "stackcount", "leave both out", error))
		return -EINVAL;
	return probe_options__check(&stackcount->probe, error);
}

static bool keys_have_process(const struct stackcount_settings *settings)
{
	return !settings->trace.kernel_stacks_only || settings->per_process;
}

static void print_process(FILE *out, const char *comm, uint32_t tgid)
{
	fprintf(out, "    %s [%" PRIu32 "]\n", comm, tgid);
}

static const struct stack_layout layout = {
	.frame_indent = "  ",
	.count_indent = "    ",
	.print_process = print_process,
	.delimits_always = true,
};

/* Everything that the kernel holds for a trace is in here, and goes with it. */
struct stackcount {
	const struct stackcount_settings *settings;
	struct session *session;
	struct probes probes;
	struct stackcount_bpf *skeleton;
	struct epochs epochs;
	struct naming *naming;
	struct report_said said;
};

static void stackcount__release(struct stackcount *stackcount)
{
	probes__release(&stackcount->probes);
	naming__free(stackcount->naming);
	epochs__close(&stackcount->epochs);
	stackcount_bpf__destroy(stackcount->skeleton);
	session__close(stackcount->session);
}

static int print_report(const struct stackcount_settings *settings, const struct report *report,
			bool first, struct error *error)
{
	const struct trace_options *trace = &settings->trace;
	time_t now = time(NULL);
	char clock[16] = "";
	const struct stack_writer writer = {
		.out = stdout,
		.layout = &layout,
		.names = &report->names,
		.comms = keys_have_process(settings),
		.processes = keys_have_process(settings) && trace->pids.nr != 1,
		.style.folded = trace->folded,
		.delimited =
			trace->delimited && !trace->kernel_stacks_only && !trace->user_stacks_only,
		.style.offsets = trace->offsets,
		.style.verbose = trace->verbose,
	};

	if (!trace->folded || !first)
		putchar('\n');
	if (settings->timestamp)
		strftime(clock, sizeof(clock), "%H:%M:%S\n", localtime(&now));
	fputs(clock, stdout);
	stack_writer__print(&writer, &report->counts);
	return output__finish(stdout, error);
}

/* End an epoch, and print what came of it. */
static int report_epoch(struct stackcount *stackcount, bool first, bool last, struct error *error)
{
	CLEANUP(report__release) struct report report = {0};
	uint64_t missed;
	uint32_t epoch;
	int err = epochs__turn(&stackcount->epochs, &epoch, error);

	if (!err)
		err = report__read(&report, session__maps(stackcount->session), epoch,
				   stackcount->naming, error);
	if (err)
		return err;
	if (attachment__take_missed(stackcount->probes.attachment, &missed))
		accounting__set_missed(&report.accounting, missed);
	if (stackcount->probes.spec.kind == PROBE_TRACEPOINT)
		report__hide_tracing(&report);
	err = print_report(stackcount->settings, &report, first, error);
	if (err)
		return err;
	report__say_what_is_missing(&report, stackcount->session, &stackcount->said);
	symbolizer__forget_names(naming__symbolizer(stackcount->naming));
	return last ? 0 : epochs__clear(&stackcount->epochs, epoch, error);
}

/* From report to report, to the last. */
static int trace(struct stackcount *stackcount, struct error *error)
{
	const struct schedule schedule = {
		.start = monotonic_now(),
		.interval = stackcount->settings->trace.interval,
		.duration = stackcount->settings->duration,
	};
	bool first = true, last = false;
	int err = output__finish(stdout, error);

	while (!last && !err) {
		enum session_end end = naming__wait(stackcount->naming, stackcount->session,
						    schedule__wait(&schedule, monotonic_now()));

		if (end == SESSION_OUTPUT_CLOSED)
			return output__failed(-EPIPE, error);
		last = end != SESSION_TIMEOUT || schedule__is_over(&schedule, monotonic_now());
		err = report_epoch(stackcount, first, last, error);
		first = false;
	}
	return err;
}

/* Where the kernel takes its time to detach, say how long it will be. */
static int detach(struct stackcount *stackcount, struct error *error)
{
	size_t left;
	uint64_t wait = attachment__begin_detach(stackcount->probes.attachment, &left);

	if (stackcount->settings->trace.folded)
		return 0;
	if (wait >= NANOSECONDS)
		printf("Detaching %zu probes, about %.0f s\n", left, (double)wait / NANOSECONDS);
	else
		puts("Detaching...");
	return output__finish(stdout, error);
}

static int load(struct stackcount *stackcount, struct error *error)
{
	const struct stackcount_settings *settings = stackcount->settings;
	struct trace_config *config;
	struct bpf_object *object;
	int err;

	stackcount->skeleton = stackcount_bpf__open();
	if (!stackcount->skeleton)
		return bpf_error__load(error, -errno);
	object = stackcount->skeleton->obj;
	config = (struct trace_config *)&stackcount->skeleton->rodata->config;
	err = session__configure(stackcount->session, object, config, error);
	if (!err && settings->cpu != ALL_CPUS)
		err = cpu__check_online(settings->cpu, "-c", error);
	if (err)
		return err;
	config->cpu = (uint32_t)settings->cpu;
	config->key_by_process = keys_have_process(settings);
	err = probes__load(&stackcount->probes, &settings->probe, stackcount->session, object,
			   config, error);
	if (!err)
		err = epochs__open(&stackcount->epochs, session__maps(stackcount->session), error);
	return err;
}

static int start(struct stackcount *stackcount, struct error *error)
{
	const struct trace_options *trace = &stackcount->settings->trace;
	struct probes *probes = &stackcount->probes;
	int err = session__open(&stackcount->session, trace, error);

	if (!err)
		err = probes__find(probes, &stackcount->settings->probe, &trace->pids, error);
	if (!err)
		err = load(stackcount, error);
	if (!err)
		err = naming__new(&stackcount->naming, stackcount->session, error);
	if (!err)
		report__watch_processes(stackcount->naming);
	if (!err)
		err = attachment__attach(probes->attachment, stackcount->session, error);
	return err;
}

static int run(const void *argument, struct error *error)
{
	const struct stackcount_settings *settings = argument;
	CLEANUP(stackcount__release) struct stackcount stackcount = {.settings = settings};
	int err = output__check(stdout);

	if (err)
		return output__failed(err, error);
	if (settings->probe.list) {
		err = probes__list(&settings->probe, &settings->trace.pids, stdout, error);
		return err ? err : output__finish(stdout, error);
	}
	err = start(&stackcount, error);
	if (err)
		return err;
	if (!settings->trace.folded)
		printf("Tracing %zu functions for \"%s\"... Hit Ctrl-C to end.\n",
		       attachment__attached(stackcount.probes.attachment), settings->probe.pattern);
	probes__say_what_is_left_out(&stackcount.probes, settings->trace.verbose);
	err = trace(&stackcount, error);
	return err ? err : detach(&stackcount, error);
}

const struct applet applet_stackcount = {
	.command =
		{
			.name = "stackcount",
			.summary = "Count events by the stacks that lead to them.",
			.options = options,
			.examples =
				"    stackcount submit_bio            # stacks that lead to submit_bio()\n"
				"    stackcount -d ip_output          # with a delimiter between kernel and user\n"
				"    stackcount -s ip_output          # with offsets\n"
				"    stackcount 'tcp_send*'           # all functions that match\n"
				"    stackcount -Ti 5 ip_output       # every 5 seconds, with the time\n"
				"    stackcount -p 185 c:malloc       # malloc() of its libc\n"
				"    stackcount 't:syscalls:sys_enter_*'   # all system calls\n"
				"    stackcount -p 185 'u:node:*'     # all USDT probes of node\n"
				"    stackcount -l 'c:str*'           # what is there to be traced?\n"
				"    stackcount -K t:sched:sched_switch    # only kernel stacks\n"
				"    stackcount -D 10 -f c:malloc     # ten seconds, for a flame graph\n",
		},
	.defaults = &defaults,
	.settings_size = sizeof(defaults),
	.check = check,
	.run = run,
};
