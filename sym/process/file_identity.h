/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same file whatever its name, as long as nobody has written to it. */
#ifndef TRACEKIT_SYM_PROCESS_FILE_IDENTITY_H
#define TRACEKIT_SYM_PROCESS_FILE_IDENTITY_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "sym/types.h"
#include "sym/util/clock.h"

struct file_identity {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
	struct timespec modified; /* its content; then it was changed, too */
};

/* Returns 0 or a negative errno. */
static inline int file_identity__read(struct file_identity *identity, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	*identity = (struct file_identity){.device = st.st_dev,
					   .inode = st.st_ino,
					   .size = st.st_size,
					   .changed = st.st_ctim,
					   .modified = st.st_mtim};
	return 0;
}

static inline bool file_identity__equal(const struct file_identity *a,
					const struct file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/*
 * True if it is the same file with the same content. Its inode may have changed: so it does when a
 * file that is still mapped is replaced, as by an upgrade.
 */
static inline bool file_identity__has_content_of(const struct file_identity *a,
						 const struct file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->modified.tv_sec == b->modified.tv_sec &&
	       a->modified.tv_nsec == b->modified.tv_nsec;
}

/* Modulo 2^64: who owns a file sets its time to anything. */
static inline uint64_t file_time(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NANOSECONDS + (uint64_t)time->tv_nsec;
}

/* True if the file is as it was then; to rename or delete it changes no content. */
static inline bool file_identity__is(const struct file_identity *identity,
				     const struct sym_file_id *file)
{
	return (uint64_t)identity->size == file->size &&
	       file_time(&identity->modified) == file->modified;
}

#endif
