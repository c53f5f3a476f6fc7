/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace that shows events one by one, from the first to what is missing at the end. */
#ifndef TRACEKIT_CORE_RUN_STREAMING_H
#define TRACEKIT_CORE_RUN_STREAMING_H

#include <stdint.h>

#include "core/run/tracing.h"
#include "core/stream/run.h"
#include "core/stream/writer.h"

struct stream;
struct stream_names;

/* The BPF programs of applets that show events one by one. */
extern const struct trace_program streaming_program;

struct streaming {
	struct tracing tracing;
	/* The applet's. */
	uint64_t count;	      /* end after so many events; 0: no limit */
	uint64_t buffer_size; /* bytes, a power of two; 0: what memory has room for */
	enum stream_form form;

	struct stream_writer writer;
	struct stream *stream;
	struct stream_names *names;
	struct stream_run run;
};

/*
 * Load what tracing__open() has opened, and make ready for the first event. Returns 0 or a
 * negative errno with error filled; streaming__release() is due in any case.
 */
int streaming__load(struct streaming *streaming, struct error *error);

/*
 * Print the header, and events to the end. Events come by now. Returns 0, or a negative errno with
 * error filled, or left empty as by output__failed().
 */
int streaming__run(struct streaming *streaming, struct error *error);

void streaming__release(struct streaming *streaming);

#endif
