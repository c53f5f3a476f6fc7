/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The work that files of traced processes may still cause: entries that are read
 * and comparisons that are made, taken from a number that whoever asks provides.
 */
#ifndef TRACEKIT_SYM_WORK_H
#define TRACEKIT_SYM_WORK_H

#include <stdint.h>

/* Take what has been done from what is left; at 0 nothing more should be begun. */
static inline void work__charge(uint64_t *left, uint64_t done)
{
	*left -= done < *left ? done : *left;
}

#endif
