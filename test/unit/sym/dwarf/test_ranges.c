// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/dwarf/ranges.h"

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

struct answer {
	uint64_t address;
	uint32_t owner;
};

#define NONE DEBUG_RANGES_NONE

static void check(const struct debug_range *items, size_t nr, const struct answer *answers,
		  size_t nr_answers)
{
	CLEANUP(debug_ranges__release) struct debug_ranges ranges = {0};
	CLEANUP(debug_sweep__release) struct debug_sweep sweep = {0};

	for (size_t i = 0; i < nr; i++)
		CHECK_INT(debug_ranges__add(&ranges, items[i].start, items[i].end, items[i].owner),
			  0);
	debug_ranges__sort(&ranges);
	if (!CHECK_INT(debug_sweep__begin(&sweep, &ranges), 0))
		return;
	for (size_t i = 0; i < nr_answers; i++) {
		uint32_t owner = debug_sweep__find(&sweep, answers[i].address);

		tap_check(owner == answers[i].owner, __FILE__, __LINE__,
			  "%#llx is in %u, expected %u", (unsigned long long)answers[i].address,
			  owner, answers[i].owner);
	}
}

#define CHECK_RANGES(ranges, answers)                                                              \
	check(ranges, ARRAY_SIZE(ranges), answers, ARRAY_SIZE(answers))

static void side_by_side(void)
{
	const struct debug_range ranges[] = {{0x30, 0x40, 3}, {0x10, 0x20, 1}, {0x20, 0x30, 2}};
	const struct answer answers[] = {{0, NONE}, {0xf, NONE}, {0x10, 1}, {0x1f, 1},	 {0x1f, 1},
					 {0x20, 2}, {0x2f, 2},	 {0x3f, 3}, {0x40, NONE}};

	CHECK_RANGES(ranges, answers);
}

static void nested(void)
{
	const struct debug_range ranges[] = {{0x18, 0x20, 2}, {0x10, 0x40, 1}, {0x10, 0x40, 0},
					     {0x30, 0x38, 4}, {0x18, 0x1c, 3}, {0x50, 0x60, 0}};
	const struct answer answers[] = {{0x10, 1}, {0x18, 3}, {0x1c, 2},    {0x20, 1}, {0x30, 4},
					 {0x38, 1}, {0x3f, 1}, {0x40, NONE}, {0x50, 0}};

	CHECK_RANGES(ranges, answers);
}

/* None within the other: of those that have not ended, the one that began last. */
static void across(void)
{
	const struct debug_range ranges[] = {{0x10, 0x30, 1}, {0x20, 0x40, 2}, {0x28, 0x50, 3}};
	const struct answer answers[] = {{0x10, 1}, {0x20, 2}, {0x28, 3}, {0x4f, 3}, {0x50, NONE}};

	CHECK_RANGES(ranges, answers);
}

/* The outer one goes on behind several that have ended beneath each other. */
static void ended_below(void)
{
	const struct debug_range ranges[] = {{0x10, 0x100, 1}, {0x20, 0x28, 2}, {0x22, 0x60, 3}};
	const struct answer answers[] = {{0x21, 2}, {0x30, 3}, {0x60, 1}, {0xff, 1}};

	CHECK_RANGES(ranges, answers);
}

static void no_ranges(void)
{
	const struct debug_range ranges[] = {
		{0, 0x100, 1}, {0x20, 0x20, 2}, {0x40, 0x30, 3}, {UINT64_MAX, 5, 4}};
	const struct answer answers[] = {{0, NONE}, {0x20, NONE}, {0x38, NONE}, {UINT64_MAX, NONE}};

	CHECK_RANGES(ranges, answers);
	check(NULL, 0, answers, ARRAY_SIZE(answers));
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"ranges beside each other", side_by_side},
		{"the innermost of nested ranges", nested},
		{"ranges that lie across each other", across},
		{"ranges that have ended below one that has not", ended_below},
		{"what is empty, ends before it begins, or begins at 0, is none", no_ranges},
	};

	return TAP_RUN(tests);
}
