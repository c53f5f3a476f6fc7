/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of code that was generated at run time, from /tmp/perf-PID.map: lines of
 * "START SIZE NAME", both numbers in hexadecimal, as node, Python, Java agents
 * and others write them (tools/perf/Documentation/jit-interface.txt of Linux).
 */
#ifndef TRACEKIT_SYM_ADDRESS_JIT_MAP_H
#define TRACEKIT_SYM_ADDRESS_JIT_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "sym/util/arena.h"

struct jit_index_list;

struct jit_lookup {
	uint64_t address; /* first: the key. Wanted */
	const char *name; /* found, or NULL; in the arena */
	uint64_t start;	  /* of the function with that name */
};

/*
 * Find the functions that lookups, sorted by address, lie in, in the map at fd as it is now. If
 * several overlap, the last one counts: code is replaced by appending. list, or NULL: entries are
 * kept there, so that they need not be read again. *work pays for the bytes that are read, and no
 * map gets more than JIT_MAP_BYTES_MAX of them; at 0 nothing more is found. Returns 0, -EFBIG if
 * the map is longer (what was read has been used), or -ENOMEM.
 */
#define JIT_MAP_BYTES_MAX (256ULL * 1024 * 1024)
int jit_map__find(struct jit_index_list *list, int fd, struct jit_lookup *lookups, size_t nr,
		  struct arena *names, uint64_t *work);

#endif
