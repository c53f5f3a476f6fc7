// SPDX-License-Identifier: GPL-2.0-or-later
/* stacksnoop: every event with its stack, in order, as it happens. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "applets/applet.h"
#include "bpf/abi.h"
#include "core/kernel/bpf_error.h"
#include "core/names/naming.h"
#include "core/options/trace_options.h"
#include "core/probe/probes.h"
#include "core/report/output.h"
#include "core/report/report.h"
#include "core/stream/names.h"
#include "core/stream/processes.h"
#include "core/stream/run.h"
#include "core/stream/stream.h"
#include "core/stream/writer.h"
#include "core/trace/session.h"
#include "stacksnoop.skel.h"
#include "sym/types.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"
#include "sym/util/message.h"
#include "sym/util/page.h"

struct stacksnoop_settings {
	struct trace_options trace;
	struct probe_options probe;
	uint64_t count;	   /* events; 0: no end */
	uint64_t duration; /* nanoseconds; 0: until a signal */
	bool json;
	uint64_t buffer_size; /* bytes, a power of two */
};

static const struct stacksnoop_settings defaults = {
	.trace = TRACE_OPTIONS_DEFAULTS,
	.buffer_size = 4 * 1024 * 1024,
};

#define OFFSET(field) offsetof(struct stacksnoop_settings, field)
/* clang-format off */
static const struct option_spec options[] = {
	PROBE_OPTION_ROWS(struct stacksnoop_settings),
	{.letter = 'n', .name = "count", .value = "N", .type = OPTION_NUMBER,
	 .offset = OFFSET(count), .min = 1, .max = UINT64_MAX,
	 .help = "end after so many events"},
	{.letter = 'D', .name = "duration", .value = "DURATION", .type = OPTION_SECONDS,
	 .offset = OFFSET(duration),
	 .help = "how long to trace, in seconds (default: until Ctrl-C)"},
	{.name = "json", .type = OPTION_FLAG,
	 .offset = OFFSET(json),
	 .help = "print each event as a line of JSON"},
	{.name = "buffer-size", .value = "SIZE", .type = OPTION_SIZE,
	 .offset = OFFSET(buffer_size), .min = 1, .max = 1 << 30,
	 .help = "room for events that are not read yet, rounded up to a power of two (default 4M)"},
	TRACE_OPTION_ROWS(struct stacksnoop_settings,
			  "kernel and user stacks, with a delimiter (default: kernel stacks)",
			  "show the process and the CPU, the modules of kernel functions, and "
			  "the files of what has no name"),
	{0},
};
/* clang-format on */

static int check(const void *settings, struct error *error)
{
	const struct stacksnoop_settings *stacksnoop = settings;

	if (stacksnoop->json && stacksnoop->trace.folded)
		return error__set(error, -EINVAL,
				  "--json and -f exclude each other: a line is of one form; "
				  "see 'stacksnoop --help'");
	if (trace_options__check(&stacksnoop->trace, "stacksnoop", "write -d", error))
		return -EINVAL;
	return probe_options__check(&stacksnoop->probe, error);
}

#define OUTPUT_BUFFER_SIZE (64 * 1024)

/* Everything that the kernel holds for a trace is in here, and goes with it. */
struct stacksnoop {
	struct stacksnoop_settings settings; /* with the kinds of stacks decided */
	struct session *session;
	struct probes probes;
	struct stacksnoop_bpf *skeleton;
	struct naming *naming;
	struct stream *stream;
	struct stream_processes *processes;
	struct stream_names *names;
	struct stream_writer writer;
	struct stream_run run;
};

static void stacksnoop__release(struct stacksnoop *stacksnoop)
{
	probes__release(&stacksnoop->probes);
	stream_names__free(stacksnoop->names);
	stream_processes__free(stacksnoop->processes);
	stream__free(stacksnoop->stream);
	naming__free(stacksnoop->naming);
	stacksnoop_bpf__destroy(stacksnoop->skeleton);
	session__close(stacksnoop->session);
}

static void say_what_is_missing(struct stacksnoop *stacksnoop)
{
	const struct trace_options *trace = &stacksnoop->settings.trace;
	struct report_said said = {0};
	struct report report = {
		.names.kernel_error = stream_names__kernel_error(stacksnoop->names),
		.names.user_error = stream_names__user_error(stacksnoop->names),
	};
	uint64_t missed;

	frame_names__note_missing(&report.names, naming__symbolizer(stacksnoop->naming));
	if (stream_run__is_complete(&stacksnoop->run)) {
		report__say_what_is_missing(&report, NULL, &said);
		if (stacksnoop->run.lost)
			fprintf(stderr, "WARNING: %" PRIu64 " events are missing among these\n",
				stacksnoop->run.lost);
		if (trace->stats)
			message("%" PRIu64 " shown, %" PRIu64 " lost; then the trace ended",
				stacksnoop->run.printed, stacksnoop->run.lost);
		return;
	}
	report.accounting.events = *stream__counters(stacksnoop->stream);
	if (attachment__take_missed(stacksnoop->probes.attachment, &missed))
		accounting__set_missed(&report.accounting, missed);
	report__say_what_is_missing(&report, stacksnoop->session, &said);
}

/* Where the kernel takes its time to detach, say how long it will be. */
static void detach(struct stacksnoop *stacksnoop)
{
	size_t left;
	uint64_t wait = attachment__begin_detach(stacksnoop->probes.attachment, &left);

	if (wait >= NANOSECONDS)
		message("detaching %zu probes, about %.0f s", left, (double)wait / NANOSECONDS);
}

static int load(struct stacksnoop *stacksnoop, struct error *error)
{
	const struct stacksnoop_settings *settings = &stacksnoop->settings;
	struct trace_config *config;
	struct bpf_object *object;
	int err;

	stacksnoop->skeleton = stacksnoop_bpf__open();
	if (!stacksnoop->skeleton)
		return bpf_error__load(error, -errno);
	object = stacksnoop->skeleton->obj;
	config = (struct trace_config *)&stacksnoop->skeleton->rodata->config;
	bpf_map__set_max_entries(stacksnoop->skeleton->maps.events,
				 (uint32_t)settings->buffer_size);
	err = session__configure(stacksnoop->session, object, config, error);
	if (!err)
		err = probes__load(&stacksnoop->probes, &settings->probe, stacksnoop->session,
				   object, config, error);
	if (!err)
		err = stream__open(&stacksnoop->stream, session__maps(stacksnoop->session),
				   settings->trace.stack_storage_size, error);
	return err;
}

static struct stream_writer make_writer(const struct stacksnoop *stacksnoop)
{
	const struct trace_options *trace = &stacksnoop->settings.trace;
	bool kernel = !trace->user_stacks_only, user = !trace->kernel_stacks_only;

	return (struct stream_writer){
		.out = stdout,
		.style.folded = trace->folded,
		.style.offsets = trace->offsets,
		.style.verbose = trace->verbose,
		.json = stacksnoop->settings.json,
		.kernel = kernel,
		.user = user,
		.delimited = kernel && user,
		.hides_tracing = stacksnoop->probes.spec.kind == PROBE_TRACEPOINT,
	};
}

static int start_naming(struct stacksnoop *stacksnoop, struct error *error)
{
	bool user = !stacksnoop->settings.trace.kernel_stacks_only;
	int err = naming__new(&stacksnoop->naming, stacksnoop->session, error);
	struct symbolizer *symbolizer;
	struct error why;

	if (err)
		return err;
	symbolizer = naming__symbolizer(stacksnoop->naming);
	stacksnoop->writer = make_writer(stacksnoop);
	if (stream_names__new(&stacksnoop->names, symbolizer, naming__modules(stacksnoop->naming),
			      &stacksnoop->writer) ||
	    (user && stream_processes__new(&stacksnoop->processes, symbolizer)))
		return error__set(error, -ENOMEM, "cannot start: out of memory");
	if (user && stream_processes__watch(stacksnoop->processes, &why))
		message("%s; processes that end right after an event lack names", why.text);
	return 0;
}

static int start(struct stacksnoop *stacksnoop, struct error *error)
{
	const struct trace_options *trace = &stacksnoop->settings.trace;
	struct probes *probes = &stacksnoop->probes;
	int err = session__open(&stacksnoop->session, trace, error);

	if (!err)
		err = probes__find(probes, &stacksnoop->settings.probe, &trace->pids, error);
	if (!err)
		err = load(stacksnoop, error);
	if (!err)
		err = start_naming(stacksnoop, error);
	if (!err)
		err = attachment__attach(probes->attachment, stacksnoop->session, error);
	return err;
}

/* The kernel stack, unless others were asked for. */
static struct stacksnoop_settings decide(const struct stacksnoop_settings *wanted)
{
	struct stacksnoop_settings settings = *wanted;

	settings.trace.kernel_stacks_only |=
		!wanted->trace.user_stacks_only && !wanted->trace.delimited;
	settings.buffer_size = page_size();
	while (settings.buffer_size < wanted->buffer_size)
		settings.buffer_size *= 2;
	return settings;
}

static struct stream_run make_run(const struct stacksnoop *stacksnoop)
{
	return (struct stream_run){
		.session = stacksnoop->session,
		.stream = stacksnoop->stream,
		.processes = stacksnoop->processes,
		.names = stacksnoop->names,
		.writer = &stacksnoop->writer,
		.count = stacksnoop->settings.count,
		.duration = stacksnoop->settings.duration,
		.buffer_size = stacksnoop->settings.buffer_size,
	};
}

static int run(const void *argument, struct error *error)
{
	CLEANUP(stacksnoop__release) struct stacksnoop stacksnoop = {.settings = decide(argument)};
	const struct stacksnoop_settings *settings = &stacksnoop.settings;
	int err = output__check(stdout);

	if (err)
		return output__failed(err, error);
	if (settings->probe.list) {
		err = probes__list(&settings->probe, &settings->trace.pids, stdout, error);
		return err ? err : output__finish(stdout, error);
	}
	err = start(&stacksnoop, error);
	if (err)
		return err;
	/* Flushed when there is nothing more to print. */
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER_SIZE);
	stream_writer__print_header(&stacksnoop.writer);
	probes__say_what_is_left_out(&stacksnoop.probes, settings->trace.verbose);
	stacksnoop.run = make_run(&stacksnoop);
	err = stream_run__go(&stacksnoop.run, error);
	if (err)
		return err;
	say_what_is_missing(&stacksnoop);
	detach(&stacksnoop);
	return 0;
}

const struct applet applet_stacksnoop = {
	.command =
		{
			.name = "stacksnoop",
			.summary =
				"Print every event with the stack that led to it, as it happens.",
			.options = options,
			.examples =
				"    stacksnoop ext4_sync_fs          # kernel stacks that lead to ext4_sync_fs()\n"
				"    stacksnoop -s ext4_sync_fs       # with offsets\n"
				"    stacksnoop -v ext4_sync_fs       # with the process and the CPU\n"
				"    stacksnoop -p 185 ext4_sync_fs   # only while PID 185 is running\n"
				"    stacksnoop -U -p 185 c:malloc    # user stacks that lead to its malloc()\n"
				"    stacksnoop -d t:sched:sched_process_exec   # kernel and user stacks\n"
				"    stacksnoop -n 10 'u:python3*:gc__*'        # ten events of USDT probes\n"
				"    stacksnoop --json -D 5 t:block:block_rq_issue   # for other programs\n",
		},
	.defaults = &defaults,
	.settings_size = sizeof(defaults),
	.check = check,
	.run = run,
};
