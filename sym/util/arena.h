/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that is allocated piece by piece and freed as a whole. */
#ifndef TRACEKIT_SYM_UTIL_ARENA_H
#define TRACEKIT_SYM_UTIL_ARENA_H

#include <stddef.h>

struct arena_block;

/* All zero is an empty arena. */
struct arena {
	struct arena_block *blocks;
};

/* size bytes aligned for any 64-bit value, uninitialised, valid until arena__release(); or NULL. */
void *arena__alloc(struct arena *arena, size_t size);

/* A copy of the length bytes at text, with a NUL behind them; or NULL. */
char *arena__copy_string(struct arena *arena, const char *text, size_t length);

void arena__release(struct arena *arena);

#endif
