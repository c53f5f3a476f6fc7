/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of addresses that have owners, and which range sorted addresses lie in: one pass
 * over both, however the ranges lie in or across each other.
 */
#ifndef TRACEKIT_SYM_DWARF_RANGES_H
#define TRACEKIT_SYM_DWARF_RANGES_H

#include <stddef.h>
#include <stdint.h>

#define DEBUG_RANGES_NONE UINT32_MAX
/* The most that there may be: some hundred MB. A large browser has about as many in all. */
#define DEBUG_RANGES_MAX ((size_t)8 * 1024 * 1024)

struct debug_range {
	uint64_t start, end; /* the first address, the one behind the last */
	uint32_t owner;	     /* among those that begin and end together the highest is innermost */
};

/* All zero has none. */
struct debug_ranges {
	struct debug_range *items;
	size_t nr, capacity;
};

/*
 * Add a range, unless it is empty or begins at 0: linkers leave such ranges of functions that they
 * dropped. Returns 0, -ENOMEM or -EFBIG.
 */
int debug_ranges__add(struct debug_ranges *ranges, uint64_t start, uint64_t end, uint32_t owner);

void debug_ranges__sort(struct debug_ranges *ranges);
void debug_ranges__release(struct debug_ranges *ranges);

/* A pass over sorted ranges. */
struct debug_sweep {
	const struct debug_ranges *ranges;
	uint32_t *open; /* the ranges that have begun; the last on top */
	size_t nr_open, next;
};

/* Returns 0 or -ENOMEM. *ranges must stay as they are until the release. */
int debug_sweep__begin(struct debug_sweep *sweep, const struct debug_ranges *ranges);
void debug_sweep__release(struct debug_sweep *sweep);

/*
 * The owner of the range that began last among those with the address, or DEBUG_RANGES_NONE. The
 * address must not be below those asked for before.
 */
uint32_t debug_sweep__find(struct debug_sweep *sweep, uint64_t address);

#endif
