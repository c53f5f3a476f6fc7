// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/run/streaming.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "core/options/trace_options.h"
#include "core/report/report.h"
#include "core/run/nothing_seen.h"
#include "core/stream/names.h"
#include "core/stream/stream.h"
#include "core/trace/room.h"
#include "streaming.skel.h"
#include "sym/util/error.h"
#include "sym/util/message.h"

#define OUTPUT_BUFFER_SIZE (64 * 1024)

TRACE_PROGRAM(streaming);

static struct stream_writer make_writer(const struct streaming *streaming,
					struct containers *containers)
{
	const struct trace_options *options = streaming->tracing.options;
	bool kernel = !options->user_stacks_only, user = !options->kernel_stacks_only;

	struct stream_writer writer = {
		.out = stdout,
		.form = streaming->form,
		.style.offsets = options->offsets,
		.style.verbose = options->verbose,
		.kernel = kernel,
		.user = user,
		.delimited = kernel && user,
		.containers = containers,
		.container_column = options->containers,
		.hides_tracing = streaming->tracing.probes.spec.kind == PROBE_TRACEPOINT,
	};

	stream_writer__set_event(&writer, streaming->tracing.probe->pattern);
	return writer;
}

static int start_naming(struct streaming *streaming, struct error *error)
{
	const struct frame_sources sources = naming__sources(streaming->tracing.naming);
	int err = stream_names__new(&streaming->names, &sources, &streaming->writer);

	return err ? error__set(error, err, "cannot start: out of memory") : 0;
}

/* JSON tells containers; text does so if it is asked to. */
static bool tells_containers(const struct streaming *streaming)
{
	return streaming->tracing.options->containers || streaming->form == STREAM_JSON;
}

int streaming__load(struct streaming *streaming, struct error *error)
{
	struct tracing *tracing = &streaming->tracing;
	struct bpf_map *events = bpf_object__find_map_by_name(tracing->object, "events");
	struct containers *containers = NULL;
	int err;

	if (!events)
		return error__set(error, -ENOENT, "cannot find the map of events");
	if (!streaming->buffer_size)
		streaming->buffer_size = session__room(tracing->session)->events;
	bpf_map__set_max_entries(events, (uint32_t)streaming->buffer_size);
	tracing->wishes.files = streaming->form == STREAM_PERF;
	tracing->wishes.starts =
		trace_options__tell_unnamed(tracing->options, streaming->form == STREAM_JSON);
	tracing->wishes.addresses = streaming->form != STREAM_FOLDED;
	if (tells_containers(streaming))
		containers = tracing__find_containers(tracing);
	err = tracing__load(tracing, error);
	if (!err)
		err = stream__open(&streaming->stream, session__maps(tracing->session),
				   session__unwinding(tracing->session),
				   session__room(tracing->session)->stacks, error);
	if (err)
		return err;
	streaming->writer = make_writer(streaming, containers);
	return start_naming(streaming, error);
}

static void say_what_is_missing(struct streaming *streaming)
{
	const struct tracing *tracing = &streaming->tracing;
	const struct stream_run *run = &streaming->run;
	struct report_said said = {0};
	struct report report = {
		.names.kernel_error = stream_names__kernel_error(streaming->names),
		.names.user_error = stream_names__user_error(streaming->names),
		.names.lost_files = stream_names__lost_files(streaming->names),
	};
	uint64_t missed;

	probes__say_what_was_not_watched(&tracing->probes);
	frame_names__note_missing(&report.names, naming__symbolizer(tracing->naming));
	if (stream_run__is_complete(run)) {
		report__say_what_is_missing(&report, NULL, &said);
		if (run->lost)
			fprintf(stderr, "WARNING: %" PRIu64 " events are missing among these\n",
				run->lost);
		if (tracing->options->stats) {
			message("%" PRIu64 " shown, %" PRIu64 " lost; then the trace ended",
				run->printed, run->lost);
			report__say_cost(tracing->session);
		}
		return;
	}
	report.accounting.events = *stream__counters(streaming->stream);
	if (attachment__take_missed(tracing->probes.attachment, &missed))
		accounting__set_missed(&report.accounting, missed);
	report__say_what_is_missing(&report, tracing->session, &said);
	nothing_seen__events(tracing, &report.accounting);
}

int streaming__run(struct streaming *streaming, struct error *error)
{
	const struct tracing *tracing = &streaming->tracing;
	int err;

	/* Flushed when there is nothing more to print. */
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER_SIZE);
	stream_writer__print_header(&streaming->writer);
	probes__say_what_is_left_out(&tracing->probes, tracing->options->verbose);
	streaming->run = (struct stream_run){
		.session = tracing->session,
		.stream = streaming->stream,
		.names = streaming->names,
		.writer = &streaming->writer,
		.count = streaming->count,
		.duration = tracing->options->duration,
		.buffer_size = streaming->buffer_size,
	};
	err = tracing__let_go(&streaming->tracing, error);
	if (!err)
		err = stream_run__go(&streaming->run, error);
	if (!err)
		say_what_is_missing(streaming);
	return err;
}

void streaming__release(struct streaming *streaming)
{
	stream_names__free(streaming->names);
	stream__free(streaming->stream);
	tracing__release(&streaming->tracing);
}
