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

#include "core/report/frame_json.h"
#include "core/report/frame_text.h"

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

/* The text of one level: the longest is that of JSON. */
#define STREAM_LEVEL_MAX FRAME_JSON_MAX

/*
 * Write frame number, with a NUL, of those that are shown for an address
 * (core/report/frame_text.h): the text behind "r0: ", an object of JSON, or a word of a folded
 * line; the same in all stacks. Numbers follow the order of output; the separator stands between
 * two frames. Returns the length.
 */
size_t stream_writer__level(const struct stream_writer *writer, uint64_t frame,
			    const struct sym_query *query, uint32_t number,
			    char text[STREAM_LEVEL_MAX]);
char stream_writer__separator(const struct stream_writer *writer);

/* Before the first event. */
void stream_writer__print_header(const struct stream_writer *writer);

/* An event whose stacks are ready, or a gap. Errors stay in the FILE: see output__flush(). */
void stream_writer__print(const struct stream_writer *writer, const struct stream_event *event);

#endif
