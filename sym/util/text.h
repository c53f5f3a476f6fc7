/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text from anywhere: on its way to a terminal, in numbers, its beginning and its hash. */
#ifndef TRACEKIT_SYM_UTIL_TEXT_H
#define TRACEKIT_SYM_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * How many bytes the UTF-8 character at text has (Unicode 15, table 3-7), with its number
 * in *code; 0, and *code untouched, if there is none in the first length bytes (>= 1).
 */
size_t text__character(const char *text, size_t length, uint32_t *code);

/*
 * True if a terminal may obey it instead of showing it: control characters, C1 included, characters
 * that turn the direction of text, the separators U+2028 and U+2029; and for those not seen at all,
 * as U+2060 and tags. False for joiners: there are words that need them.
 */
bool text__is_control(uint32_t code);

/* True if it shows as a gap or as nothing, and is no control: before a name it would indent it. */
bool text__is_blank(uint32_t code);

/*
 * A name as it may be printed: what text__is_control() is, and invalid UTF-8,
 * become '?'; for folded output ';' becomes ':'. Writes
 * at most size bytes with a NUL (size >= 1) and returns the length; never cuts
 * a character in two.
 */
size_t text__clean(const char *name, size_t length, bool folded, char *clean, size_t size);

static inline bool text__begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Two hexadecimal digits for each byte, and a NUL: text has room for 2 * nr + 1. */
void text__hex(const unsigned char *bytes, size_t nr, char *text);

/*
 * FNV-1a (Fowler, Noll, Vo) with 64 bits: it tells texts apart, but whoever chooses them can make
 * two that are alike.
 */
static inline uint64_t text__hash(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

#endif
