/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that look alike are one: in text and folded lines nothing tells apart two places in a
 * function, threads in lines that have no TID, or processes in those that have no PID.
 */
#ifndef TRACEKIT_CORE_FORMAT_MERGED_H
#define TRACEKIT_CORE_FORMAT_MERGED_H

#include <stdio.h>

#include "core/trace/stacks.h"
#include "sym/util/text_set.h"

struct shown_stacks;

struct merged_stack {
	uint32_t text;		  /* its number */
	struct counted_stack sum; /* count and weight only */
};

/* All zero is empty. Least first, as the counts are; of equal ones, who came first in these. */
struct merged_stacks {
	struct text_set texts;
	struct merged_stack *items; /* as many as texts */
};

/* print: all of a stack that is seen but its numbers. Returns 0 or -ENOMEM; release it in any case.
 */
int merged_stacks__make(struct merged_stacks *merged, const struct shown_stacks *shown,
			void (*print)(FILE *out, const struct shown_stacks *shown,
				      const struct counted_stack *item));

void merged_stacks__release(struct merged_stacks *merged);

#endif
