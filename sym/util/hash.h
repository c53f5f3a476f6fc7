/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACEKIT_SYM_UTIL_HASH_H
#define TRACEKIT_SYM_UTIL_HASH_H

#include <stdint.h>

/*
 * FNV-1a (Fowler, Noll, Vo) with 64 bits: it tells texts apart, but whoever chooses them can make
 * two that are alike.
 */
static inline uint64_t hash__text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

#endif
