/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which stacks are wanted: those with a frame that matches, and none that matches something else.
 */
#ifndef TRACEKIT_CORE_INPUT_FILTER_H
#define TRACEKIT_CORE_INPUT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/util/text_set.h"

struct flame_frame;
struct pattern;

struct stack_filter {
	/* Set by the caller, who owns them; NULL: there is none. */
	const struct pattern *focus, *ignore;
	/* The weights that were left out: the caller sees to it that their sum fits. */
	uint64_t unfocused; /* for want of a frame that matches focus */
	uint64_t ignored;   /* others, for a frame that matches ignore */
	/* What each text matches, by its number in texts. */
	struct text_set texts;
	unsigned char *matches;
	size_t capacity;
};

/* *wanted: the stack is. Returns 0 or -ENOMEM. */
int stack_filter__wants(struct stack_filter *filter, const struct flame_frame *frames, size_t nr,
			uint64_t weight, bool *wanted);

void stack_filter__release(struct stack_filter *filter);

#endif
