/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The work that files of traced processes may still cause: entries that are read
 * and comparisons that are made. All files together draw on one number, and each
 * on its share of it.
 */
#ifndef TRACEKIT_SYM_ELF_WORK_H
#define TRACEKIT_SYM_ELF_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct work {
	uint64_t *left; /* for all; whoever watches may be looking at it */
	uint64_t floor; /* at which this share is used up */
};

static inline struct work work__share(uint64_t *left, uint64_t most)
{
	return (struct work){.left = left, .floor = *left > most ? *left - most : 0};
}

static inline bool work__is_left(const struct work *work)
{
	return *work->left > work->floor;
}

/* Beyond the share, too: for what has been found, and is only to be fetched. */
static inline bool work__is_left_for_all(const struct work *work)
{
	return *work->left > 0;
}

static inline void work__charge(const struct work *work, uint64_t done)
{
	*work->left -= done < *work->left ? done : *work->left;
}

#endif
