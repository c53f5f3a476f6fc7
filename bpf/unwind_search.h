/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the tables of unwind_tables.h are searched: the unit tests compile it for the host.
 *
 * No branch depends on what is found: each would double the states that the verifier looks at,
 * in every step of every frame.
 */
#ifndef TRACEKIT_BPF_UNWIND_SEARCH_H
#define TRACEKIT_BPF_UNWIND_SEARCH_H

#include "unwind_tables.h"

#define UNWIND_SEARCH static inline __attribute__((always_inline))

/* step if low <= wanted, else 0, without a branch. low is below 2^63. */
UNWIND_SEARCH __u32 step_if_not_above(__u64 low, __u64 wanted, __u32 step)
{
	__s64 mask = (__s64)(low - wanted - 1) >> 63;

	__asm__ volatile("" : "+r"(mask));
	return step & (__u32)mask;
}

UNWIND_SEARCH __u32 shard_word(const struct unwind_shard *shard, __u32 index)
{
	return shard->words[index & (UNWIND_SHARD_WORDS - 1)];
}

/* The row that holds where a KB of the page begins, by its number. */
UNWIND_SEARCH __u32 page_index(const struct unwind_shard *shard, const struct unwind_page *page,
			       __u32 kb)
{
	return shard_word(shard, page->first + kb / 2) >> (kb % 2 * 16) & 0xffff;
}

/* The number of the rule at an address whose lower bits, those in the page, are low. */
UNWIND_SEARCH __u32 page_rule(const struct unwind_shard *shard, const struct unwind_page *page,
			      __u32 low)
{
	__u32 kb = low >> UNWIND_KB_BITS, first = page_index(shard, page, kb);
	__u32 nr = page_index(shard, page, kb + 1) - first + 1;

	first += page->first + UNWIND_INDEX_WORDS;
	for (__u32 i = 0; i < UNWIND_ROW_STEPS; i++) {
		__u32 half = nr / 2, row = shard_word(shard, first + half);

		first += step_if_not_above(unwind_row_low(row), low, half);
		nr -= half;
	}
	return unwind_row_rule(shard_word(shard, first));
}

#endif
