/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Single events: as text, a row for each frame; as a line for each event, of JSON, or folded for
 * flame graphs; or as "perf script" prints them, which many programs read.
 */
#ifndef TRACEKIT_CORE_STREAM_WRITER_H
#define TRACEKIT_CORE_STREAM_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/report/frame_json.h"
#include "core/report/frame_text.h"

struct containers;
struct stream_event;
struct sym_query;

enum stream_form { STREAM_TEXT, STREAM_FOLDED, STREAM_JSON, STREAM_PERF };

struct stream_writer {
	FILE *out;
	enum stream_form form;
	struct frame_style
		style;	   /* not folded: see form; verbose: with the thread and the CPU, too */
	char event[256];   /* how STREAM_PERF calls events */
	bool kernel, user; /* which stacks were asked for */
	bool delimited;	   /* mark the border between them; not in JSON */
	struct containers *containers; /* NULL: they are not told */
	bool container_column;	       /* STREAM_TEXT has one */
	bool hides_tracing; /* kernel stacks begin at the tracepoint, not at what it calls */
};

/* How STREAM_PERF calls the events of a pattern: one word. */
void stream_writer__set_event(struct stream_writer *writer, const char *pattern);

/* The text of one level: the longest is that of JSON. */
#define STREAM_LEVEL_MAX FRAME_JSON_MAX

/*
 * Write frame number, with a NUL, of those that are shown for an address
 * (core/report/frame_text.h): the text behind "r0: ", an object of JSON, or a word of a folded
 * line, or a row of perf's; the same in all stacks. Numbers follow the order of output; the
 * separator stands between two frames. Returns the length.
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
