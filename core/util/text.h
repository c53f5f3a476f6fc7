/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text from anywhere, on its way to a terminal. */
#ifndef TRACEKIT_CORE_UTIL_TEXT_H
#define TRACEKIT_CORE_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A name as it may be printed: control characters, what turns the direction of
 * text, and invalid UTF-8 become '?'; for folded output ';' becomes ':'. Writes
 * at most size bytes with a NUL (size >= 1) and returns the length; never cuts
 * a character in two.
 */
size_t text__clean(const char *name, size_t length, bool folded, char *clean, size_t size);

#endif
