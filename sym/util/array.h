/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow, and lookups in sorted ones. */
#ifndef TRACEKIT_SYM_UTIL_ARRAY_H
#define TRACEKIT_SYM_UTIL_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* -1, 0 or 1, for comparators. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/*
 * Make room for one more element behind nr in *items, an allocated array (or
 * NULL) with room for *capacity elements of item_size bytes.
 * Returns 0, or -ENOMEM with everything as it was.
 */
int array__grow(void **items, size_t nr, size_t *capacity, size_t item_size);

/* qsort(), which may not be called with the NULL that an empty array can be. */
void array__sort(void *items, size_t nr, size_t item_size,
		 int (*compare)(const void *, const void *));

/*
 * The index of the first item whose key is at least key, nr if there is none.
 * Items are sorted by their key, the uint64_t that each begins with.
 */
size_t array__lower_bound(const void *items, size_t nr, size_t item_size, uint64_t key);

/* array__grow() for the usual three variables: an array, how many are used, how many fit. */
#define ARRAY_GROW(items, nr, capacity)                                                            \
	array__grow((void **)&(items), nr, &(capacity), sizeof((items)[0]))

#endif
