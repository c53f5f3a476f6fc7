/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers as users write them: the whole word, or an error. */
#ifndef TRACEKIT_SYM_UTIL_NUMBER_H
#define TRACEKIT_SYM_UTIL_NUMBER_H

#include <stdint.h>

/*
 * A decimal whole number from min to max. No sign, no space, no other base.
 * Returns 0, or -EINVAL (not a number) or -ERANGE with *number untouched.
 */
int number__parse(const char *text, uint64_t min, uint64_t max, uint64_t *number);

/*
 * Bytes: a number as above, with a K, M or G behind it if wanted, or KB, MB, GB, which are
 * powers of 1024. Returns 0, or -EINVAL or -ERANGE with *bytes untouched.
 */
int number__parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *bytes);

/*
 * Seconds, with a fraction if wanted ("5", "0.25"), or with a unit behind them: us, ms, s, m, h or
 * d ("5s", "1.5h"). Above 0 and at most SECONDS_MAX; digits beyond the ninth are ignored.
 * Returns 0, or -EINVAL or -ERANGE with *nanoseconds untouched.
 */
int number__parse_seconds(const char *text, uint64_t *nanoseconds);

#define MILLISECONDS 1000000ULL	   /* one, in nanoseconds */
#define NANOSECONDS  1000000000ULL /* in a second */
#define SECONDS_MAX  (100ULL * 366 * 86400)

#endif
