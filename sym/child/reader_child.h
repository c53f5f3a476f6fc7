/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child that reads files of others, and writes what it has found into a pipe. A file system may
 * not answer, and whoever asks it then is not even ended by SIGKILL: so the child can be given up,
 * and the file system is avoided from then on.
 */
#ifndef TRACEKIT_SYM_CHILD_READER_CHILD_H
#define TRACEKIT_SYM_CHILD_READER_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sym/child/patience.h"

struct reader_child {
	pid_t pid;
	int fd;				/* what it writes */
	struct patience patience;	/* with it */
	unsigned char bytes[16 * 1024]; /* read, and not taken yet */
	size_t nr, next;
};

/*
 * Have a child do that: it has the pipe as descriptor 0, a copy of kept as 1 if that is not
 * negative, and no other one, and ends when run() returns. From now on it has some seconds.
 * Returns 0 or a negative errno.
 */
int reader_child__start(struct reader_child *child, void (*run)(const void *job), const void *job,
			int kept);

/* In the child: write all of it to the parent; does not return if that cannot be done. */
void reader_child__write(const void *bytes, size_t size);

/*
 * Without waiting: 1 if it has written something, or ended; 0 if not; -ETIMEDOUT or -ETIME, as
 * below, when it is not worth to be waited for any longer.
 */
int reader_child__look(struct reader_child *child);

/*
 * Wait for so many bytes from it. Returns 0, -ETIMEDOUT if for a second it has waited for what does
 * not answer, -ETIME if it takes too long, or -EPIPE if it ended before.
 */
int reader_child__read(struct reader_child *child, void *bytes, size_t size);

/* One that does not end is left alone: it waits for a file, and has nothing else open. */
void reader_child__stop(struct reader_child *child);

/* Whether it is a child, or was one until a moment ago: nobody needs to read what these map. */
bool reader_child__is_own(pid_t pid);

/* File systems that did not answer, and are not asked again. */
#define AVOIDED_DEVICES_MAX 16

struct avoided_devices {
	uint64_t devices[AVOIDED_DEVICES_MAX];
	size_t nr;
};

/* When there are too many all that are on no disk are avoided. */
bool avoided_devices__has(const struct avoided_devices *avoided, uint64_t device);

/*
 * A disk may be slow: no user can make one hang; and what has no device is no file's. Returns
 * whether it is one to avoid, and was none before.
 */
bool avoided_devices__add(struct avoided_devices *avoided, uint64_t device);

#endif
