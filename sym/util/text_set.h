/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distinct texts, each kept once and known by its number. */
#ifndef TRACEKIT_SYM_UTIL_TEXT_SET_H
#define TRACEKIT_SYM_UTIL_TEXT_SET_H

#include <stddef.h>
#include <stdint.h>

#include "sym/util/arena.h"

/* All zero is empty. */
struct text_set {
	const char **texts; /* by number */
	size_t nr, capacity;
	uint32_t *slots; /* 1 more than a number; 0: free */
	size_t nr_slots; /* a power of two */
	struct arena arena;
};

/* *number: that of text, from 0 on; a new text is copied. Returns 0 or -ENOMEM. */
int text_set__add(struct text_set *set, const char *text, uint32_t *number);

void text_set__release(struct text_set *set);

#endif
