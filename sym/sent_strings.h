/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings that have been sent, each once: from then on they are told by their numbers. */
#ifndef TRACEKIT_SYM_SENT_STRINGS_H
#define TRACEKIT_SYM_SENT_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sent_string {
	const char *text; /* NULL: a free slot */
	uint32_t number;
};

/* All zero is empty. */
struct sent_strings {
	struct sent_string *slots; /* a hash table, a power of two of them */
	size_t nr, capacity;
};

/*
 * The number of a string, from 1 on; *is_new: it has not been asked for before. Strings are
 * told apart by where they are, not by their bytes, and stay there. 0 without memory.
 */
uint32_t sent_strings__number(struct sent_strings *strings, const char *text, bool *is_new);

void sent_strings__clear(struct sent_strings *strings);

#endif
