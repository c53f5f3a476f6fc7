/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that generate code: walks came to it, and their JIT maps (sym/address/jit_map.h) have
 * its names. The maps are passed on to whoever names frames while the programs are there. A map can
 * begin long after the code, and can be made anew: it is looked for again and again, as long as
 * walks come to the code.
 */
#ifndef TRACEKIT_CORE_UNWIND_GENERATORS_H
#define TRACEKIT_CORE_UNWIND_GENERATORS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sym/child/reader_child.h"
#include "sym/process/jit_map_reader.h"

/* The one that was heard of the longest time ago goes for another one. */
#define GENERATORS_MAX 64

struct known_generator {
	struct jit_map_owner generator; /* pid 0: none */
	bool wanted;
	uint32_t failures; /* in a row */
	uint64_t next;	   /* no look before that time, by monotonic_now() */
	uint64_t heard;	   /* when it was wanted last, by that clock */
};

/* All zero is empty. */
struct generators {
	struct known_generator items[GENERATORS_MAX];
	struct reader_child child; /* that looks for the map of one */
	struct jit_map_owner looking;
	uint64_t since; /* when it began, by monotonic_now() */
	bool is_looking;
};

/* A walk came to code of that program. */
void generators__want(struct generators *generators, pid_t pid, uint64_t program);

/*
 * Have a child look for the next map, which it passes to the socket, or take what one has found,
 * without waiting. Returns whether one is looking.
 */
bool generators__go(struct generators *generators, int socket);

/* Polls as readable when a child has something to say. */
struct pollfd generators__poll(const struct generators *generators);

#endif
