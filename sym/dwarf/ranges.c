// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/dwarf/ranges.h"

#include <errno.h>
#include <stdlib.h>

#include "sym/util/array.h"

int debug_ranges__add(struct debug_ranges *ranges, uint64_t start, uint64_t end, uint32_t owner)
{
	if (start == 0 || start >= end)
		return 0;
	if (ranges->nr >= DEBUG_RANGES_MAX)
		return -EFBIG;
	if (ARRAY_GROW(ranges->items, ranges->nr, ranges->capacity))
		return -ENOMEM;
	ranges->items[ranges->nr++] =
		(struct debug_range){.start = start, .end = end, .owner = owner};
	return 0;
}

/* An outer range comes before those in it. */
static int compare_ranges(const void *a, const void *b)
{
	const struct debug_range *x = a, *y = b;

	if (x->start != y->start)
		return COMPARE(x->start, y->start);
	if (x->end != y->end)
		return COMPARE(y->end, x->end);
	return COMPARE(x->owner, y->owner);
}

void debug_ranges__sort(struct debug_ranges *ranges)
{
	array__sort(ranges->items, ranges->nr, sizeof(*ranges->items), compare_ranges);
}

void debug_ranges__release(struct debug_ranges *ranges)
{
	free(ranges->items);
	*ranges = (struct debug_ranges){0};
}

int debug_sweep__begin(struct debug_sweep *sweep, const struct debug_ranges *ranges)
{
	uint32_t *open = calloc(ranges->nr + 1, sizeof(*open));

	if (!open)
		return -ENOMEM;
	*sweep = (struct debug_sweep){.ranges = ranges, .open = open};
	return 0;
}

void debug_sweep__release(struct debug_sweep *sweep)
{
	free(sweep->open);
	*sweep = (struct debug_sweep){0};
}

uint32_t debug_sweep__find(struct debug_sweep *sweep, uint64_t address)
{
	const struct debug_range *items = sweep->ranges->items;

	while (sweep->next < sweep->ranges->nr && items[sweep->next].start <= address)
		sweep->open[sweep->nr_open++] = (uint32_t)sweep->next++;
	while (sweep->nr_open && items[sweep->open[sweep->nr_open - 1]].end <= address)
		sweep->nr_open--;
	return sweep->nr_open ? items[sweep->open[sweep->nr_open - 1]].owner : DEBUG_RANGES_NONE;
}
