/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of this process (setrlimit(2)) that what it does can run into. */
#ifndef TRACEKIT_SYM_UTIL_LIMITS_H
#define TRACEKIT_SYM_UTIL_LIMITS_H

#include <stddef.h>

#define LIMIT_HINT_SIZE 192

/*
 * To be put behind a message about a failure with code (a negative errno): "; " and which limit it
 * comes from, and what raises that. Empty if it comes from none. Returns text.
 */
const char *limit__hint(int code, char text[LIMIT_HINT_SIZE]);

#endif
