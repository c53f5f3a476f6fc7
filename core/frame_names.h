/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of all frames of a report: each distinct one asked for once. */
#ifndef TRACEKIT_CORE_FRAME_NAMES_H
#define TRACEKIT_CORE_FRAME_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_counts;
struct sym_query;
struct symbolizer;

/* Where a frame is looked up: in the kernel, or in the process with this tgid. */
struct frame_place {
	uint64_t frame;
	uint32_t tgid; /* 0 for kernel frames */
	bool return_address;
};

struct frame_names {
	struct frame_place *places; /* sorted, distinct */
	struct sym_query *queries;  /* answered, in the same order */
	size_t nr;
	int kernel_error;  /* of symbolizer__name_kernel() */
	int user_error;	   /* of symbolizer__name_user() */
	size_t unanswered; /* symbolizer__unanswered() */
};

/*
 * Name every frame of counts. What cannot be named stays without a name; that
 * is no failure. Returns 0 or -ENOMEM with names empty.
 */
int frame_names__find_all(struct frame_names *names, const struct stack_counts *counts,
			  struct symbolizer *symbolizer);
void frame_names__release(struct frame_names *names);

/* The answer for one frame of a stack that was in counts. */
const struct sym_query *frame_names__get(const struct frame_names *names, uint64_t frame,
					 uint32_t tgid, bool return_address);

#endif
