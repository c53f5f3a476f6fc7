/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACEKIT_SYM_UTIL_CLOCK_H
#define TRACEKIT_SYM_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "sym/util/number.h"

/* Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

#endif
