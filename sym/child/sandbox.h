/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that gives up what it could do harm with, before it reads what anyone may
 * have written: it computes, reads and writes what it has open, and ends. It shares no memory that
 * it could write to, and is a user that nobody else is if root starts it. When memory runs out it
 * is the first that the kernel ends.
 */
#ifndef TRACEKIT_SYM_CHILD_SANDBOX_H
#define TRACEKIT_SYM_CHILD_SANDBOX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sandbox {
	pid_t parent; /* with it this process ends */
	int *fds;     /* the descriptors that stay; renumbered from 0 on */
	size_t nr_fds;
	size_t received_fds; /* how many more it can receive, and have open at once */
	uint64_t memory;     /* bytes that it may map in addition to what it has */
	uint64_t file_bytes; /* how large the files that stay may become by writing */
	unsigned int cpu_seconds;
};

/* The most descriptors that stay. */
#define SANDBOX_FDS_MAX 8

/*
 * Enter it: there is no way out. Other threads must not exist. Returns 0, or a negative errno if a
 * limit could not be set, as the one of memory without /proc, or if system calls could not be
 * refused: then the process may do nothing but end.
 */
int sandbox__enter(struct sandbox *sandbox);

#endif
