/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hash map from pointers, told apart by where they point to, to a number or a pointer. */
#ifndef TRACEKIT_SYM_UTIL_POINTER_MAP_H
#define TRACEKIT_SYM_UTIL_POINTER_MAP_H

#include <stddef.h>
#include <stdint.h>

struct pointer_map_slot {
	const void *key; /* NULL: a free slot */
	uintptr_t value;
};

/* All zero is empty. */
struct pointer_map {
	struct pointer_map_slot *slots; /* a power of two of them */
	size_t nr, capacity;
};

/* The value of a key, 0 at first; valid until the next call. NULL without memory. */
uintptr_t *pointer_map__at(struct pointer_map *map, const void *key);

void pointer_map__release(struct pointer_map *map);

#endif
