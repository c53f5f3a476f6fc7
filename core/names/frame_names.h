/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of all frames of a report: each distinct frame is asked for once. */
#ifndef TRACEKIT_CORE_NAMES_FRAME_NAMES_H
#define TRACEKIT_CORE_NAMES_FRAME_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/names/frame_question.h"
#include "sym/util/arena.h"

struct counted_stack;
struct stack_counts;
struct sym_query;
struct symbolizer;
struct unwind_module_list;
struct unwinding;

struct frame_names {
	struct frame_place *places; /* sorted, distinct */
	struct sym_query *queries;  /* answered, in the same order */
	struct arena modules;	    /* names of modules that no answer has */
	size_t nr;
	int kernel_error;      /* of symbolizer__name_kernel() */
	int user_error;	       /* of symbolizer__name_user() */
	size_t unanswered;     /* symbolizer__unanswered() */
	size_t lost_files;     /* that frames are in, but that nobody could find or open */
	bool incomplete_debug; /* symbolizer__has_incomplete_debug() */
};

/* Take unanswered and incomplete_debug from the symbolizer, as of now. */
void frame_names__note_missing(struct frame_names *names, const struct symbolizer *symbolizer);

/* The sources of names. */
struct frame_sources {
	struct symbolizer *symbolizer;
	const struct unwind_module_list *modules;
	/* If addresses of frames in files are wanted: of who knows where these were. Or NULL. */
	const struct unwinding *unwinding;
};

/*
 * Name every frame of counts. A frame that cannot be named stays without a name; this is no
 * failure. Returns 0 or -ENOMEM with names empty.
 */
int frame_names__find_all(struct frame_names *names, const struct stack_counts *counts,
			  const struct frame_sources *sources);
void frame_names__release(struct frame_names *names);

/* The answer for a frame of a stack that was in counts; stack may be NULL for a kernel frame. */
const struct sym_query *frame_names__get(const struct frame_names *names,
					 const struct counted_stack *stack, uint64_t frame,
					 bool return_address);

#endif
