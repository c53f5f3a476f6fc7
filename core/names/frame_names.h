/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of all frames of a report: each distinct one asked for once. */
#ifndef TRACEKIT_CORE_NAMES_FRAME_NAMES_H
#define TRACEKIT_CORE_NAMES_FRAME_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/util/arena.h"

struct counted_stack;
struct stack_counts;
struct sym_query;
struct symbolizer;
struct trace_processes;
struct unwind_module_list;

/* Where a frame is looked up: in the kernel, or in what the process tgid was then. */
struct frame_place {
	uint64_t frame; /* as of frame_plain() */
	uint32_t tgid;
	bool return_address;
	uint64_t since; /* as that of a counted stack; it and tgid are 0 for kernel frames */
};

struct frame_names {
	struct frame_place *places; /* sorted, distinct */
	struct sym_query *queries;  /* answered, in the same order */
	struct arena modules;	    /* names of those that no answer has */
	size_t nr;
	int kernel_error;      /* of symbolizer__name_kernel() */
	int user_error;	       /* of symbolizer__name_user() */
	size_t unanswered;     /* symbolizer__unanswered() */
	bool incomplete_debug; /* symbolizer__has_incomplete_debug() */
};

/* What the symbolizer says of all that it has been asked so far. */
void frame_names__note_missing(struct frame_names *names, const struct symbolizer *symbolizer);

/* Who knows what frames are. */
struct frame_sources {
	struct symbolizer *symbolizer;
	struct trace_processes *processes; /* NULL: processes are named as they are now */
	const struct unwind_module_list *modules;
};

/*
 * Name every frame of counts. What cannot be named stays without a name; that
 * is no failure. Returns 0 or -ENOMEM with names empty.
 */
int frame_names__find_all(struct frame_names *names, const struct stack_counts *counts,
			  const struct frame_sources *sources);
void frame_names__release(struct frame_names *names);

/*
 * The answer for one frame of a stack that was in counts; stack may be NULL if it is the kernel's.
 */
const struct sym_query *frame_names__get(const struct frame_names *names,
					 const struct counted_stack *stack, uint64_t frame,
					 bool return_address);

#endif
