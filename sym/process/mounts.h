/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a file system is mounted, as /proc/self/mountinfo says (proc_pid_mountinfo(5)). */
#ifndef TRACEKIT_SYM_PROCESS_MOUNTS_H
#define TRACEKIT_SYM_PROCESS_MOUNTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct mount {
	char *root;  /* the directory of the file system that is mounted */
	char *point; /* where it is mounted, in our own root */
	/* Files can be below a directory of it that a place has and this mount has not. */
	bool is_deeper;
};

/* All zero is empty. */
struct mounts {
	struct mount *items;
	size_t nr, capacity;
	bool has_root; /* something is mounted at our root */
};

/*
 * The mounts of the file system of that device, and all of overlayfs, whose files are on others.
 * Returns 0 or a negative errno.
 */
int mounts__read(struct mounts *mounts, dev_t device);
void mounts__release(struct mounts *mounts);

/* One line of it. Returns 0, also if it is none of these; or -ENOMEM. */
int mounts__add_line(struct mounts *mounts, dev_t device, const char *line);

/*
 * There are no more lines. After chroot() into any directory none is of our root: it is added,
 * since the files of its device that we can reach are below it. Returns 0 or -ENOMEM.
 */
int mounts__end(struct mounts *mounts);

/*
 * path becomes where a file is in our root that is at that place below the root of the file system,
 * which begins with a slash. False if it is not below what is mounted, or the path is too long.
 */
bool mount__path(const struct mount *mount, const char *place, char path[PATH_MAX]);

#endif
