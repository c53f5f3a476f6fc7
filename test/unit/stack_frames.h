/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks for tests. */
#ifndef TRACEKIT_TEST_STACK_FRAMES_H
#define TRACEKIT_TEST_STACK_FRAMES_H

#include <string.h>

#include "core/trace/stacks.h"
#include "sym/util/arena.h"
#include "sym/util/array.h"

/* addresses: NULL if nr is 0. */
static inline const struct frames *make_frames(struct arena *arena, const uint64_t *addresses,
					       size_t nr)
{
	struct frames *frames = arena__alloc(arena, sizeof(*frames) + nr * sizeof(*addresses));

	frames->nr = (uint32_t)nr;
	if (nr)
		memcpy(frames->frames, addresses, nr * sizeof(*addresses));
	return frames;
}

/* Those of the addresses that follow, the leaf first. */
#define FRAMES_IN(arena, ...)                                                                      \
	make_frames(arena, (const uint64_t[]){__VA_ARGS__},                                        \
		    ARRAY_SIZE(((const uint64_t[]){__VA_ARGS__})))

#endif
