// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/spans.h"

#include <string.h>

#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

#define CLEANUP_SPANS CLEANUP(spans__release)

#define BLOCK 64
#define UNITS (20 * BLOCK)

static uint32_t take(struct spans *spans, uint32_t nr)
{
	uint32_t first = UNITS;

	return spans__take(spans, nr, BLOCK, &first) ? first : UNITS;
}

static void in_order(void)
{
	CLEANUP_SPANS struct spans spans = {0};

	CHECK_INT(take(&spans, 1), UNITS);
	CHECK_INT(spans__give(&spans, 0, UNITS), 0);
	CHECK_INT(take(&spans, 40), 0);
	/* It does not fit into the rest of the block, which the one behind it does. */
	CHECK_INT(take(&spans, 30), BLOCK);
	CHECK_INT(take(&spans, 24), 40);
	CHECK_INT(take(&spans, BLOCK), 2 * BLOCK);
	CHECK_INT(take(&spans, BLOCK + 1), UNITS);
	CHECK_INT(spans.nr_units, UNITS - 40 - 30 - 24 - BLOCK);
}

/* What is given back between two others makes one of them. */
static void one_again(void)
{
	CLEANUP_SPANS struct spans spans = {0};

	CHECK_INT(spans__give(&spans, 5, 3), 0);
	CHECK_INT(spans__give(&spans, 12, 4), 0);
	CHECK_INT(spans.nr, 2);
	CHECK_INT(spans__give(&spans, 8, 4), 0);
	CHECK_INT(spans.nr, 1);
	CHECK_INT(spans__give(&spans, 3, 2), 0);
	CHECK_INT(spans.nr, 1);
	CHECK_INT(spans__give(&spans, 16, 1), 0);
	CHECK_INT(spans.nr, 1);
	CHECK_INT(spans.items[0].first, 3);
	CHECK_INT(spans.items[0].nr, 14);
	CHECK_INT(spans.nr_units, 14);
}

/* ---- at random, beside a list of who has each unit ---- */

static uint8_t owners[UNITS]; /* 0: it is free */
static uint32_t firsts[256], sizes[256];
static uint64_t state;

static uint32_t below(uint32_t bound)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(state >> 33) % bound;
}

static bool fits_anywhere(uint32_t nr)
{
	uint32_t run = 0;

	for (uint32_t unit = 0; unit < UNITS; unit++) {
		run = owners[unit] ? 0 : unit % BLOCK ? run + 1 : 1;
		if (run >= nr)
			return true;
	}
	return false;
}

static bool all_are(uint32_t first, uint32_t nr, uint8_t owner)
{
	for (uint32_t unit = first; unit < first + nr; unit++)
		if (owners[unit] != owner)
			return false;
	return true;
}

static void give_at_random(struct spans *spans, uint8_t owner)
{
	CHECK_INT(spans__give(spans, firsts[owner], sizes[owner]), 0);
	memset(owners + firsts[owner], 0, sizes[owner]);
	sizes[owner] = 0;
}

static void take_at_random(struct spans *spans, uint8_t owner)
{
	uint32_t nr = 1 + below(BLOCK), first = take(spans, nr);

	CHECK(fits_anywhere(nr) == (first != UNITS));
	if (first == UNITS)
		return;
	CHECK(first % BLOCK + nr <= BLOCK && all_are(first, nr, 0));
	firsts[owner] = first;
	sizes[owner] = nr;
	memset(owners + first, owner, nr);
}

static uint32_t nr_free(void)
{
	uint32_t nr = 0;

	for (uint32_t unit = 0; unit < UNITS; unit++)
		nr += !owners[unit];
	return nr;
}

static void at_random(void)
{
	CLEANUP_SPANS struct spans spans = {0};

	CHECK_INT(spans__give(&spans, 0, UNITS), 0);
	for (int i = 0; i < 20000; i++) {
		uint8_t owner = (uint8_t)(1 + below(80));

		if (sizes[owner])
			give_at_random(&spans, owner);
		else
			take_at_random(&spans, owner);
		if (spans.nr_units != nr_free()) {
			CHECK_INT(spans.nr_units, nr_free());
			return;
		}
	}
	for (int owner = 1; owner <= 80; owner++)
		if (sizes[owner])
			give_at_random(&spans, (uint8_t)owner);
	CHECK_INT(spans.nr, 1);
	CHECK_INT(spans.nr_units, UNITS);
}

static const struct tap_test tests[] = {
	{"the first that is large enough is taken", in_order},
	{"neighbours become one", one_again},
	{"any order", at_random},
};

int main(void)
{
	return TAP_RUN(tests);
}
