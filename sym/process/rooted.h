/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files by their paths below a directory that is taken for the root: what a process, or
 * the image of another system, has there is read without being led out of it.
 */
#ifndef TRACEKIT_SYM_PROCESS_ROOTED_H
#define TRACEKIT_SYM_PROCESS_ROOTED_H

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * In the place of a descriptor: our own root. Nothing is confined to it, but links to what
 * processes have open, as /proc/PID/fd has them, are not followed.
 */
#define ROOTED_OURS AT_FDCWD

/*
 * All return a descriptor or a negative errno. They wait for no file that does not answer, except
 * on a file system that does not.
 */

/* The root of a process, by a thread of it that has not ended; only to name it. */
int rooted__of_process(pid_t task);

/* Only name the file at path: flags are 0, O_DIRECTORY, or O_NOFOLLOW. */
int rooted__name(int root, const char *path, int flags);

/* Only name a path in our root that is our own, or the user's: it may lead anywhere. */
int rooted__name_ours(const char *path, int flags);

/*
 * Open the file at path for reading: only a regular file, and none that the kernel makes, as those
 * of /proc; -EINVAL if it is no such file.
 */
int rooted__open(int root, const char *path, struct stat *st);

/* Open the file that the descriptor named only names, as rooted__open(). */
int rooted__open_named(int named, struct stat *st);

/* The kernel may make this one; -EINVAL if it is not regular. */
int rooted__open_regular(int named, struct stat *st);

/*
 * True if a file is on /proc or the like. It looks regular there, and belongs to root; to read it
 * can have effects, and anyone can mount it over a file in a namespace of their own.
 */
bool rooted__is_made_by_kernel(int named);

/*
 * The path in root of a file that was opened there, as far as the kernel can still tell.
 * Returns 0 or a negative errno.
 */
int rooted__path(int root, int fd, char path[PATH_MAX]);

static inline bool rooted__is_error(int root)
{
	return root < 0 && root != ROOTED_OURS;
}

/* A root can be told from all others by these two, mount namespaces included (Linux 5.8). */
struct root_identity {
	uint64_t mount;
	uint64_t inode;
};

static inline bool root_identity__equal(const struct root_identity *a,
					const struct root_identity *b)
{
	return a->mount == b->mount && a->inode == b->inode;
}

/*
 * The root of a process, and its identity: ROOTED_OURS if the root is ours, or is not known, since
 * the process has ended (task is 0) or hides it; else a descriptor. As long as this is open,
 * nothing else has the identity. Without a descriptor or memory the root is not taken for ours:
 * -EMFILE, -ENFILE or -ENOMEM.
 */
int rooted__root_of(pid_t task, struct root_identity *identity);

#endif
