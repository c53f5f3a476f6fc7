/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Single events as text, a row for each frame; or a line for each event: as JSON, or folded
 * for flame graphs.
 */
#ifndef TRACEKIT_CORE_STREAM_WRITER_H
#define TRACEKIT_CORE_STREAM_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/frame_text.h"
#include "core/util/json.h"

struct stream_event;
struct sym_query;

struct stream_writer {
	FILE *out;
	struct frame_style style; /* verbose: with the thread and the CPU, too */
	bool json;
	bool kernel, user;  /* which stacks were asked for */
	bool delimited;	    /* mark the border between them; not in JSON */
	bool hides_tracing; /* kernel stacks begin at the tracepoint, not at what it calls */
};

/* The text of a frame, in JSON with a name and a module. */
#define STREAM_FRAME_MAX (2 * JSON_STRING_SIZE(FRAME_NAME_MAX) + 128)

/*
 * What comes behind "r0: ", an object of JSON, or a word of a folded line, with a NUL; the
 * same wherever the frame is. query is its answer; not looked at for a mark. Returns the length.
 */
size_t stream_writer__frame(const struct stream_writer *writer, uint64_t frame,
			    const struct sym_query *query, char text[STREAM_FRAME_MAX]);

/* Before the first event. */
void stream_writer__print_header(const struct stream_writer *writer);

/* An event whose stacks are ready, or a gap. Errors stay in the FILE: see output__flush(). */
void stream_writer__print(const struct stream_writer *writer, const struct stream_event *event);

#endif
