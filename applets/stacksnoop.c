// SPDX-License-Identifier: GPL-2.0-or-later
/* stacksnoop: every event with its stack, in order, as it happens. */
#include <errno.h>

#include "applets/applet.h"
#include "core/options/trace_options.h"
#include "core/run/streaming.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"
#include "sym/util/message.h"
#include "sym/util/page.h"

struct stacksnoop_settings {
	struct trace_options trace;
	struct probe_options probe;
	uint64_t count; /* events; 0: no end */
	bool json;
	size_t format;	      /* enum stream_form */
	uint64_t buffer_size; /* bytes; 0: what memory has room for */
};

static const struct stacksnoop_settings defaults = {
	.trace = TRACE_OPTIONS_DEFAULTS,
};

static const char *const form_names[] = {[STREAM_TEXT] = "text",
					 [STREAM_FOLDED] = "folded",
					 [STREAM_JSON] = "json",
					 [STREAM_PERF] = "perf",
					 NULL};

#define OFFSET(field) offsetof(struct stacksnoop_settings, field)
/* clang-format off */
static const struct option_spec options[] = {
	PROBE_OPTION_ROWS(struct stacksnoop_settings),
	TRACE_OPTION_ROWS(struct stacksnoop_settings,
			  "kernel and user stacks, with a delimiter (default: kernel stacks)",
			  "show the process and the CPU, the modules of kernel functions, and "
			  "the files of what has no name"),
	DURATION_OPTION_ROW(struct stacksnoop_settings),
	{.letter = 'n', .name = "count", .value = "N", .type = OPTION_NUMBER,
	 .group = GROUP_TIME, .offset = OFFSET(count), .min = 1, .max = UINT64_MAX,
	 .help = "end after so many events"},
	{.name = "json", .type = OPTION_FLAG,
	 .group = GROUP_OUTPUT, .offset = OFFSET(json),
	 .help = "print each event as a line of JSON"},
	{.name = "format", .value = "FORMAT", .type = OPTION_CHOICE,
	 .group = GROUP_OUTPUT, .offset = OFFSET(format), .choices = form_names,
	 .help = "how events are printed: text (default), folded (as -f), json (as --json), or as "
		 "perf script does"},
	{.name = "buffer-size", .value = "SIZE", .type = OPTION_SIZE,
	 .group = GROUP_LIMITS, .offset = OFFSET(buffer_size), .min = 1, .max = 1 << 30,
	 .help = "room for events that are not read yet, rounded up to a power of two (default 4M)"},
	{0},
};
/* clang-format on */

/* As --format says, or one of the options that are shorter. */
static enum stream_form form_of(const struct stacksnoop_settings *settings)
{
	if (settings->format != STREAM_TEXT)
		return (enum stream_form)settings->format;
	return settings->json ? STREAM_JSON : settings->trace.folded ? STREAM_FOLDED : STREAM_TEXT;
}

static int check(const void *settings, struct error *error)
{
	const struct stacksnoop_settings *stacksnoop = settings;

	enum stream_form form = form_of(stacksnoop);

	if (stacksnoop->json && stacksnoop->trace.folded)
		return error__set(error, -EINVAL,
				  "--json and -f exclude each other: a line is of one form");
	if ((stacksnoop->json && form != STREAM_JSON) ||
	    (stacksnoop->trace.folded && form != STREAM_FOLDED))
		return error__set(error, -EINVAL, "%s and --format %s exclude each other",
				  stacksnoop->json ? "--json" : "-f", form_names[form]);
	if (stacksnoop->trace.containers && form != STREAM_TEXT)
		return error__set(error, -EINVAL,
				  "--show-containers is for text; JSON always has them");
	if (trace_options__check(&stacksnoop->trace, "write -d", error))
		return -EINVAL;
	return probe_options__check(&stacksnoop->probe, &stacksnoop->trace, error);
}

static uint64_t whole_pages(uint64_t wanted)
{
	uint64_t size = page_size();

	while (size < wanted)
		size *= 2;
	return size;
}

/* Begin to detach, and say how long it will take if that is a second or more. */
static void detach(const struct tracing *tracing)
{
	size_t left;
	uint64_t wait = attachment__begin_detach(tracing->probes.attachment, &left);

	if (wait >= NANOSECONDS)
		message("detaching %zu probes, about %.0f s", left, (double)wait / NANOSECONDS);
}

static int run(const void *argument, struct error *error)
{
	const struct stacksnoop_settings *settings = argument;
	struct trace_options trace = settings->trace;
	CLEANUP(streaming__release)
	struct streaming streaming = {
		.tracing.program = &streaming_program,
		.tracing.options = &trace,
		.tracing.probe = &settings->probe,
		.count = settings->count,
		.buffer_size = settings->buffer_size ? whole_pages(settings->buffer_size) : 0,
		.form = form_of(settings),
	};
	struct tracing *tracing = &streaming.tracing;
	int err;

	if (settings->probe.list)
		return tracing__list(tracing, error);
	/* Only kernel stacks, unless others were asked for. */
	trace.kernel_stacks_only |= !trace.user_stacks_only && !trace.delimited;
	err = tracing__open(tracing, error);
	if (!err)
		err = streaming__load(&streaming, error);
	if (!err)
		err = tracing__attach(tracing, error);
	if (!err)
		err = streaming__run(&streaming, error);
	if (!err)
		detach(tracing);
	return err ? err : tracing__status(tracing);
}

const struct applet applet_stacksnoop = {
	.command =
		{
			.name = "stacksnoop",
			.summary =
				"Print every event with the stack that led to it, as it happens.",
			.options = options,
			.run_offset = OFFSET(trace.command),
			.examples =
				"    stacksnoop ext4_sync_fs          # kernel stacks that lead to ext4_sync_fs()\n"
				"    stacksnoop -s ext4_sync_fs       # with offsets\n"
				"    stacksnoop -v ext4_sync_fs       # with the process and the CPU\n"
				"    stacksnoop -p 185 ext4_sync_fs   # only while PID 185 is running\n"
				"    stacksnoop -U -p 185 c:malloc    # user stacks that lead to its malloc()\n"
				"    stacksnoop -U c:malloc -- ls     # run ls, and show each of its calls\n"
				"    stacksnoop -d t:sched:sched_process_exec   # kernel and user stacks\n"
				"    stacksnoop -n 10 'u:python3*:gc__*'        # ten events of USDT probes\n"
				"    stacksnoop --json -D 5 t:block:block_rq_issue   # for other programs\n"
				"    stacksnoop --format perf -dD 5 t:sched:sched_switch >out.perf  # a timeline\n",
		},
	.defaults = &defaults,
	.settings_size = sizeof(defaults),
	.check = check,
	.run = run,
};
