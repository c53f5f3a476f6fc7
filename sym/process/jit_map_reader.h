/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child that looks for the JIT map of a program (sym/address/jit_map.h), and passes it on to who
 * keeps it.
 */
#ifndef TRACEKIT_SYM_PROCESS_JIT_MAP_READER_H
#define TRACEKIT_SYM_PROCESS_JIT_MAP_READER_H

#include <stdint.h>
#include <sys/types.h>

/* Whose JIT map is wanted; program as of struct passed_file. */
struct jit_map_owner {
	pid_t pid;
	uint64_t program;
	uint64_t inode; /* of its map that has been passed; or 0 */
};

struct reader_child;

/*
 * Have a child look for the JIT map, and pass it to the socket if it is another one than before;
 * the caller goes on. Returns 0 or a negative errno.
 */
int jit_map_reader__start(struct reader_child *child, const struct jit_map_owner *owner,
			  int socket);

/*
 * When the child has something to say: fill in inode, and end the child. Returns 0, -ENOENT if the
 * program has no map, -ESRCH if it is gone, or another negative errno.
 */
int jit_map_reader__finish(struct reader_child *child, struct jit_map_owner *owner);

#endif
