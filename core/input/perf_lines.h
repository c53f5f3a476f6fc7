/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of perf script, taken apart: those of samples and those of frames. */
#ifndef TRACEKIT_CORE_INPUT_PERF_LINES_H
#define TRACEKIT_CORE_INPUT_PERF_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a line. */
struct part {
	const char *text;
	size_t length;
};

bool part__is(struct part part, const char *text);

/* The line of a sample; what it does not have is empty. */
struct perf_header {
	struct part comm, event;
	bool is_sure; /* it has a CPU or a time, as no line of another kind */
	bool has_time;
	const char *rest; /* behind the event */
};

struct perf_header perf_header__parse(const char *text);

/* What is in the line of a frame behind its address; each part can be empty. */
struct perf_frame {
	struct part name; /* without "+0x12" */
	struct part file; /* what stands in parentheses: a path, or "inlined" */
};

/* The digits of the address with which a frame begins, maybe behind blanks; empty: it is none. */
struct part perf_frame__address(const char *text);

/* address: of the frame, whose line goes on behind it. */
struct perf_frame perf_frame__parse(struct part address);

/* A line is that of a frame. */
bool perf_frame__is_one(const char *text);

/* A line is one that no text of another kind has. */
bool perf_line__is_sure(const char *text);

#endif
