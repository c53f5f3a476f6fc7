/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forms in which counted stacks are written. Each is a file that defines one struct
 * format, and a row in FORMATS.
 */
#ifndef TRACEKIT_CORE_FORMAT_FORMAT_H
#define TRACEKIT_CORE_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "bpf/abi.h"
#include "core/report/frame_text.h"

struct accounting;
struct containers;
struct counted_stack;
struct frame_names;
struct frames;
struct stack_counts;
struct sym_query;

/* The differences between applets in text output. */
struct stack_layout {
	const char *frame_indent;
	const char *count_indent;
	/*
	 * What names the process, from a comm that is safe to print; without a newline. id: the TID
	 * where threads are counted, or "PID/TID" with thread_ids; else the PID.
	 */
	void (*print_process)(FILE *out, const char *comm, const char *id);
	bool delimits_always; /* with delimited: also where one of the stacks is empty */
};

/*
 * The labels of pprof that are text. Some of those who store profiles keep a series for each of
 * their values.
 */
enum text_labels {
	LABELS_COMM_CONTAINER,
	LABELS_COMM,
	LABELS_CONTAINER,
	LABELS_NONE,
};

/* Counted stacks, and how they are to be shown. All is borrowed. */
struct shown_stacks {
	const struct stack_counts *counts;
	const struct frame_names *names;
	const struct stack_layout *layout;
	struct containers *containers; /* of the cgroups; NULL: they are not told */
	bool comms;		       /* keys have a comm; folded lines begin with it */
	bool processes;		       /* print the line that names the process */
	bool threads;		       /* each thread is counted by itself, */
	bool thread_ids;	       /* and all formats tell which one, and of which process */
	bool samples;		       /* of time: any function can be the innermost */
	bool shares;		       /* text has them, and the total */
	enum text_labels labels;
	uint64_t max_samples; /* of pprof; the rarest stacks become one; 0: no limit */
	bool merged;	      /* all processes together, in formats that tell them apart */
	bool delimited;	      /* mark the border of kernel and user frames, where there are both */
	struct frame_style style; /* verbose: with addresses, too, but in folded lines */
	/* About the trace, for formats that tell. */
	const char *unit; /* of the counts: "samples" */
	/* What each of them stands for: "cpu", "nanoseconds", how many; NULL: for nothing. */
	const char *cost, *cost_unit;
	uint64_t cost_each; /* 0: the weight of each stack says it, in nanoseconds */
	bool counts_times;  /* where it does: show numbers nevertheless */
	const struct accounting *accounting;
	time_t now;	      /* when the report was made, */
	uint64_t nanoseconds; /* of so long a time */
};

struct format {
	const char *name;
	const char *suffix; /* of the files that hold it */
	bool whole;	    /* one report is a document: two cannot follow each other */
	bool binary;	    /* it is nothing for a terminal */
	bool files;	    /* it has paths and build IDs of files */
	bool symbols;	    /* it has names as they stand in their files, too */
	bool starts;	    /* it tells functions without a name apart by where they begin */
	/* Returns 0 or -ENOMEM. Errors of writing stay in the FILE: see output__flush(). */
	int (*write)(FILE *out, const struct shown_stacks *shown);
};

/* clang-format off */
#define FORMATS(row)                                                                             \
	row(text)                                                                                \
	row(folded)                                                                              \
	row(svg)                                                                                 \
	row(html)                                                                                \
	row(pprof)                                                                               \
	row(speedscope)                                                                          \
	row(json)
/* clang-format on */

#define FORMAT_NUMBER_(name) FORMAT_##name,
enum format_number { FORMATS(FORMAT_NUMBER_) NR_FORMATS };

#define FORMAT_DECLARATION_(name) extern const struct format format_##name;
FORMATS(FORMAT_DECLARATION_)

/* By their numbers; the names end with NULL. */
extern const struct format *const formats[NR_FORMATS];
extern const char *const format_names[];

/* The number of the format that a file of this name holds; NR_FORMATS: none. */
size_t format__of_path(const char *path);

/* ---- for formats ---- */

/* The answer for frame i of a stack in counts; NULL for a mark. */
const struct sym_query *shown_stacks__answer(const struct shown_stacks *shown,
					     const struct counted_stack *item,
					     const struct frames *frames, uint32_t i);

/* The number that stands for it: microseconds where events last, else how many they are. */
uint64_t shown_stacks__value(const struct shown_stacks *shown, const struct counted_stack *item);

/* What these numbers are. */
const char *shown_stacks__unit(const struct shown_stacks *shown);

/* What it stands for, in cost_unit, where there is a cost. */
uint64_t shown_stacks__cost(const struct shown_stacks *shown, const struct counted_stack *item);

/* Events last: stacks have weights, which are nanoseconds. */
bool shown_stacks__have_weights(const struct shown_stacks *shown);

/* The comm of a stack, safe to print and never empty. */
void counted_stack__comm(const struct counted_stack *item, bool folded, char clean[COMM_LEN + 1]);

/* "PID/TID", with thread_ids; else "". */
#define THREAD_ID_MAX sizeof("4294967295/4294967295")
void counted_stack__thread(const struct shown_stacks *shown, const struct counted_stack *item,
			   char id[THREAD_ID_MAX]);

/* The comm, with thread_ids and that behind it: "comm-PID/TID". */
#define WHO_MAX (COMM_LEN + 1 + THREAD_ID_MAX)
void counted_stack__who(const struct shown_stacks *shown, const struct counted_stack *item,
			bool folded, char who[WHO_MAX]);

/* The ID of the container that its process is in, of any bytes; NULL: of none. */
const char *counted_stack__container(const struct shown_stacks *shown,
				     const struct counted_stack *item);

/* The border between its kernel and its user frames is to be marked. */
bool shown_stacks__delimits(const struct shown_stacks *shown, const struct counted_stack *item);

#endif
