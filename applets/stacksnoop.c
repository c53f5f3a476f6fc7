// SPDX-License-Identifier: GPL-2.0-or-later
/* stacksnoop: every event with its stack, in order, as it happens. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "applets/applet.h"
#include "bpf/abi.h"
#include "core/bpf_error.h"
#include "core/naming.h"
#include "core/output.h"
#include "core/probes.h"
#include "core/report.h"
#include "core/schedule.h"
#include "core/session.h"
#include "core/stream.h"
#include "core/stream_names.h"
#include "core/stream_writer.h"
#include "core/trace_options.h"
#include "core/util/cleanup.h"
#include "core/util/clock.h"
#include "core/util/error.h"
#include "core/util/message.h"
#include "stacksnoop.skel.h"
#include "sym/sym.h"

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
	TRACE_OPTION_ROWS(struct stacksnoop_settings),
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

/* The longest that lines wait to be flushed, and that what a name is waited for is looked after. */
#define FLUSH_INTERVAL (20 * 1000000ULL)

/*
 * After a look at the ring buffer the next one waits for so long, as long as it fills
 * slowly: the kernel wakes us for the first event behind those that were read, and at
 * 100,000 a second nearly all are that if nobody waits.
 */
#define NAP		1000000ULL
#define NAP_BUFFER_SIZE (256 * 1024)

/* Everything that the kernel holds for a trace is in here, and goes with it. */
struct stacksnoop {
	struct stacksnoop_settings settings; /* with the kinds of stacks decided */
	struct session *session;
	struct probes probes;
	struct stacksnoop_bpf *skeleton;
	struct naming *naming;
	struct stream *stream;
	struct stream_names *names;
	struct stream_writer writer;
	uint64_t printed; /* events */
	uint64_t lost;	  /* events, in the gaps that were printed */
	uint64_t flushed; /* when */
};

static void stacksnoop__release(struct stacksnoop *stacksnoop)
{
	probes__release(&stacksnoop->probes);
	stream_names__free(stacksnoop->names);
	stream__free(stacksnoop->stream);
	naming__free(stacksnoop->naming);
	stacksnoop_bpf__destroy(stacksnoop->skeleton);
	session__close(stacksnoop->session);
}

static bool is_complete(const struct stacksnoop *stacksnoop)
{
	return stacksnoop->settings.count && stacksnoop->printed == stacksnoop->settings.count;
}

static int meet(void *context, const struct stream_event *event, struct error *error)
{
	struct stacksnoop *stacksnoop = context;
	int err = stream_names__meet(stacksnoop->names, event);

	return err ? error__set(error, err, "cannot name the stacks: %s", strerror(-err)) : 0;
}

/* Print what is due and has its names. *waiting: for names. */
static int print_due(struct stacksnoop *stacksnoop, bool *waiting, struct error *error)
{
	const struct stream_event *event;
	uint64_t now = monotonic_now();

	*waiting = false;
	while (!is_complete(stacksnoop) && (event = stream__due(stacksnoop->stream, now))) {
		int ready = event->lost ? 1 : stream_names__ready(stacksnoop->names, event);

		if (ready < 0)
			return error__set(error, ready, "cannot name the stacks: %s",
					  strerror(-ready));
		*waiting = !ready;
		if (!ready)
			break;
		stream_writer__print(&stacksnoop->writer, event);
		stacksnoop->printed += !event->lost;
		stacksnoop->lost += event->lost;
		stream__drop(stacksnoop->stream);
	}
	return 0;
}

static int flush(struct stacksnoop *stacksnoop, bool emptied, struct error *error)
{
	uint64_t now = monotonic_now();

	if (!emptied && now - stacksnoop->flushed < FLUSH_INTERVAL)
		return 0;
	stacksnoop->flushed = now;
	return output__finish(stdout, error);
}

/* What became of one look at the ring buffer, the names and the events that are due. */
struct round {
	bool emptied;	     /* the ring buffer */
	bool waiting;	     /* the next event waits for its names */
	struct pollfd names; /* ready when there are some */
};

static int go_round(struct stacksnoop *stacksnoop, struct round *round, struct error *error)
{
	int err = stream__read(stacksnoop->stream, meet, stacksnoop, &round->emptied, error);

	if (err)
		return err;
	err = stream_names__attend(stacksnoop->names, &round->names);
	if (err)
		return error__set(error, err, "cannot name the stacks: %s", strerror(-err));
	err = print_due(stacksnoop, &round->waiting, error);
	return err ? err : flush(stacksnoop, round->emptied, error);
}

/* How long there is nothing to do but to wait for further events, or for names. */
static uint64_t time_to_wait(const struct stacksnoop *stacksnoop, const struct round *round)
{
	uint64_t wait = stream__wait(stacksnoop->stream, monotonic_now());

	if (round->waiting || (round->names.fd >= 0 && wait > FLUSH_INTERVAL))
		return FLUSH_INTERVAL;
	return round->emptied && wait ? wait : 1;
}

static enum session_end watch(struct session *session, struct pollfd events, struct pollfd names,
			      uint64_t timeout)
{
	const struct pollfd watched[SESSION_WATCHED] = {events, names};

	session__watch(session, watched);
	return session__wait(session, timeout == UINT64_MAX ? 0 : timeout);
}

/* Sleep until the next round is due, or left has passed. Why the trace ends, or SESSION_TIMEOUT. */
static enum session_end wait_for_round(struct stacksnoop *stacksnoop, const struct round *round,
				       uint64_t left)
{
	const struct pollfd nothing = {.fd = -1};
	uint64_t wait = time_to_wait(stacksnoop, round), nap = 0;
	enum session_end end = SESSION_TIMEOUT;

	if (left && left < wait)
		wait = left;
	if (!round->emptied)
		nap = wait;
	else if (wait != UINT64_MAX && stacksnoop->settings.buffer_size >= NAP_BUFFER_SIZE)
		nap = wait < NAP ? wait : NAP;
	if (nap)
		end = watch(stacksnoop->session, nothing, round->names, nap);
	if (end == SESSION_TIMEOUT && wait > nap)
		end = watch(stacksnoop->session, stream__poll(stacksnoop->stream), round->names,
			    wait - nap);
	return end == SESSION_READY ? SESSION_TIMEOUT : end;
}

/* All that is to be printed has been. */
static bool is_done(const struct stacksnoop *stacksnoop)
{
	return is_complete(stacksnoop) ||
	       (stream__ended(stacksnoop->stream) &&
		stream__wait(stacksnoop->stream, monotonic_now()) == UINT64_MAX);
}

/* From round to round. When the trace ends, what has happened by then is still to be printed. */
static int trace(struct stacksnoop *stacksnoop, struct error *error)
{
	const struct schedule schedule = {
		.start = monotonic_now(),
		.duration = stacksnoop->settings.duration,
	};
	bool ending = false;

	for (;;) {
		enum session_end end = SESSION_TIMEOUT;
		struct round round;
		int err = go_round(stacksnoop, &round, error);

		if (err || is_done(stacksnoop))
			return err;
		if (ending) {
			poll(&round.names, 1, 1);
			continue;
		}
		end = wait_for_round(stacksnoop, &round,
				     schedule__wait(&schedule, monotonic_now()));
		if (end == SESSION_OUTPUT_CLOSED)
			return output__failed(-EPIPE, error);
		ending = end != SESSION_TIMEOUT || schedule__is_over(&schedule, monotonic_now());
		if (ending)
			stream__end(stacksnoop->stream);
	}
}

static void say_what_is_missing(struct stacksnoop *stacksnoop)
{
	const struct trace_options *trace = &stacksnoop->settings.trace;
	struct report_said said = {0};
	struct report report = {
		.names.kernel_error = stream_names__kernel_error(stacksnoop->names),
		.names.user_error = stream_names__user_error(stacksnoop->names),
		.names.unanswered = symbolizer__unanswered(naming__symbolizer(stacksnoop->naming)),
	};
	uint64_t missed;

	if (is_complete(stacksnoop)) {
		report__say_what_is_missing(&report, false, &said);
		if (stacksnoop->lost)
			fprintf(stderr, "WARNING: %" PRIu64 " events are missing among these\n",
				stacksnoop->lost);
		if (trace->stats)
			message("%" PRIu64 " shown, %" PRIu64 " lost; then the trace ended",
				stacksnoop->printed, stacksnoop->lost);
		return;
	}
	report.accounting.events = *stream__counters(stacksnoop->stream);
	if (attachment__take_missed(stacksnoop->probes.attachment, &missed))
		accounting__set_missed(&report.accounting, missed);
	report__say_what_is_missing(&report, trace->stats, &said);
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
		err = attachment__configure(stacksnoop->probes.attachment, object, config, error);
	if (!err)
		err = session__load(stacksnoop->session, object,
				    settings->probe.debug ? stderr : NULL, error);
	if (!err)
		err = stream__open(&stacksnoop->stream, session__maps(stacksnoop->session),
				   stacksnoop->skeleton->bss->lost_events,
				   settings->trace.stack_storage_size, error);
	return err;
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
		err = naming__new(&stacksnoop->naming, trace, error);
	if (!err && stream_names__new(&stacksnoop->names, naming__symbolizer(stacksnoop->naming),
				      &stacksnoop->writer))
		err = error__set(error, -ENOMEM, "cannot start: out of memory");
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
	settings.buffer_size = 4096;
	while (settings.buffer_size < wanted->buffer_size)
		settings.buffer_size *= 2;
	return settings;
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
	stacksnoop.writer = make_writer(&stacksnoop);
	stream_writer__print_header(&stacksnoop.writer);
	probes__say_what_is_left_out(&stacksnoop.probes, settings->trace.verbose);
	err = trace(&stacksnoop, error);
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
				"    stacksnoop --json -D 5 t:block:block_rq_issue   # five seconds, for other programs\n",
		},
	.defaults = &defaults,
	.settings_size = sizeof(defaults),
	.check = check,
	.run = run,
};
