// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/spans.h"

#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"

void spans__release(struct spans *spans)
{
	free(spans->items);
	*spans = (struct spans){0};
}

static uint64_t span_end(const struct span *span)
{
	return span->first + span->nr;
}

static void remove_span(struct spans *spans, size_t at)
{
	spans->nr--;
	memmove(&spans->items[at], &spans->items[at + 1], (spans->nr - at) * sizeof(*spans->items));
}

static int insert_span(struct spans *spans, size_t at, struct span span)
{
	int err = ARRAY_GROW(spans->items, spans->nr, spans->capacity);

	if (err)
		return err;
	memmove(&spans->items[at + 1], &spans->items[at], (spans->nr - at) * sizeof(*spans->items));
	spans->items[at] = span;
	spans->nr++;
	return 0;
}

int spans__give(struct spans *spans, uint32_t first, uint32_t nr)
{
	size_t at = array__lower_bound(spans->items, spans->nr, sizeof(*spans->items), first);
	struct span *before = at ? &spans->items[at - 1] : NULL;
	struct span *behind = at < spans->nr ? &spans->items[at] : NULL;
	bool joins = before && span_end(before) == first;
	bool is_joined = behind && (uint64_t)first + nr == behind->first;
	int err = 0;

	if (joins && is_joined) {
		before->nr += nr + behind->nr;
		remove_span(spans, at);
	} else if (joins) {
		before->nr += nr;
	} else if (is_joined) {
		behind->first = first;
		behind->nr += nr;
	} else {
		err = insert_span(spans, at, (struct span){.first = first, .nr = nr});
	}
	if (!err)
		spans->nr_units += nr;
	return err;
}

/* Where nr units of one block are in a span; its end if they are not. */
static uint64_t place_in(const struct span *span, uint32_t nr, uint32_t block)
{
	uint64_t first = span->first, end = span_end(span);

	if (first % block + nr > block)
		first += block - first % block;
	return nr <= block && first < end && nr <= end - first ? first : end;
}

/* Take units from the middle of a span, or from one of its ends. */
static bool cut(struct spans *spans, size_t at, uint64_t first, uint32_t nr)
{
	struct span *span = &spans->items[at];
	struct span rest = {.first = first + nr, .nr = span_end(span) - first - nr};

	if (rest.nr && first > span->first && insert_span(spans, at + 1, rest))
		return false;
	span = &spans->items[at];
	if (first > span->first)
		span->nr = first - span->first;
	else
		*span = rest;
	if (!span->nr)
		remove_span(spans, at);
	spans->nr_units -= nr;
	return true;
}

bool spans__take(struct spans *spans, uint32_t nr, uint32_t block, uint32_t *first)
{
	for (size_t i = 0; i < spans->nr; i++) {
		uint64_t place = place_in(&spans->items[i], nr, block);

		if (place == span_end(&spans->items[i]))
			continue;
		*first = (uint32_t)place;
		return cut(spans, i, place, nr);
	}
	return false;
}
