/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child that reads files of others, and writes what it has found into a pipe. A file system may
 * not answer, and not even SIGKILL ends a process that waits for it: so the child can be given up,
 * and the file system is avoided from then on.
 */
#ifndef TRACEKIT_SYM_CHILD_READER_CHILD_H
#define TRACEKIT_SYM_CHILD_READER_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sym/child/deadline.h"

struct child_role;

struct reader_child {
	const struct child_role *role;
	pid_t pid;
	int why;		  /* it is to be given up: -ETIMEDOUT, -ETIME or -EPIPE; or 0 */
	int fd;			  /* what it writes */
	struct deadline deadline; /* with it */
	unsigned char bytes[16 * 1024]; /* read, and not taken yet */
	size_t nr, next;
};

/* Descriptors that a child can have besides its pipe. */
#define READER_CHILD_KEPT_MAX 39

/*
 * Have a child with this role, which is borrowed, call run(job). Its only descriptors are the pipe
 * as 0, and copies of the nr_kept in kept from 1 on. It ends when run() returns, and has some
 * seconds from now on. Returns 0 or a negative errno.
 */
int reader_child__start(struct reader_child *child, const struct child_role *role,
			void (*run)(const void *job), const void *job, const int *kept,
			size_t nr_kept);

/* In the child: write all of it to the parent; does not return if that cannot be done. */
void reader_child__write(const void *bytes, size_t size);

/*
 * Without waiting: 1 if it has written something, or ended; 0 if not; -ETIMEDOUT or -ETIME, as
 * below, when waiting any longer has no use.
 */
int reader_child__look(struct reader_child *child);

/*
 * Wait for so many bytes from it. Returns 0, -ETIMEDOUT if it has waited for a second for a file
 * that does not answer, -ETIME if it takes too long, or -EPIPE if it ended before.
 */
int reader_child__read(struct reader_child *child, void *bytes, size_t size);

/*
 * What this process does as well while it waits for a child: take(context) when fd can be read. It
 * returns false if it cannot take more now, and is called in the next wait again. It starts no
 * child itself.
 */
void reader_child__attend(int fd, bool (*take)(void *context), void *context);

/* A child that does not end is left alone: it waits for a file, and has nothing else open. */
void reader_child__stop(struct reader_child *child);

/* True if pid is a child, or was until a moment ago: nobody needs to read what these map. */
bool reader_child__is_own(pid_t pid);

/* File systems that did not answer, and are not asked again. */
#define AVOIDED_DEVICES_MAX 16

struct avoided_devices {
	uint64_t devices[AVOIDED_DEVICES_MAX];
	size_t nr;
};

/* When there are too many, all devices that are no disk are avoided. */
bool avoided_devices__has(const struct avoided_devices *avoided, uint64_t device);

/*
 * Disks may be slow, but no user can make one hang; 0 is the device of no file: neither is added.
 * True if device is one to avoid, and was none before.
 */
bool avoided_devices__add(struct avoided_devices *avoided, uint64_t device);

#endif
