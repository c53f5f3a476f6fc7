/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes have mapped, and the call-frame information of their files, read by children
 * that can be given up (sym/reader_child.h): what a file holds is anyone's, and who reads it has no
 * privileges any more (sym/sandbox.h).
 *
 * Each call waits for its child: a second at most if that waits, some at most in all.
 */
#ifndef TRACEKIT_SYM_UNWIND_READER_H
#define TRACEKIT_SYM_UNWIND_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/abi.h"

struct avoided_devices;

/*
 * What a file is known by: two that are equal in all have the same call-frame information. The time
 * of the last change of its inode is not among them: it is another one when a file that is still
 * mapped is replaced, as by an upgrade.
 */
struct unwind_identity {
	uint64_t device, inode, size;
	uint64_t modified; /* nanoseconds since 1970, modulo 2^64 */
};

enum unwind_source {
	UNWIND_SOURCE_NONE, /* memory without a file, or a file that cannot be had */
	UNWIND_SOURCE_FILE,
	UNWIND_SOURCE_VDSO,
};

#define UNWIND_PATH_MAX 256

/* Executable memory. All of it is of fixed size: it goes through a pipe. */
struct unwind_mapped {
	uint64_t start, end;	/* addresses */
	uint64_t offset;	/* of start in the file */
	uint64_t device, inode; /* as the kernel shows them, which need not be those of stat() */
	struct unwind_identity identity; /* of UNWIND_SOURCE_FILE */
	uint32_t source;		 /* enum unwind_source */
	uint32_t generation;		 /* of the inode: its number can be another file's later */
	uint32_t has_generation;	 /* the file system tells it */
	uint32_t reserved;
	char path[UNWIND_PATH_MAX]; /* as the kernel shows it, by unwind_path__set() */
};

/* A path that is longer is shortened, to one that still tells it from others, but opens nothing. */
void unwind_path__set(char path[UNWIND_PATH_MAX], const char *whole);

/*
 * The mappings of a process, sorted and disjoint; UNWIND_MAPPINGS_MAX at most, more are left
 * out. Files of file systems that are avoided are UNWIND_SOURCE_NONE; those that do not answer are
 * avoided from then on. *mapped is the caller's to free. Returns how many, -ESRCH if it has ended,
 * -ETIMEDOUT if it does not answer, -ETIME if it took too long, or another negative errno.
 */
int unwind_reader__mappings(pid_t pid, struct avoided_devices *avoided,
			    struct unwind_mapped **mapped);

/*
 * What a record of the kernel has named, of a process that may have gone by now: the file with
 * the device, inode and generation of mapped, if it has that path in our own root. Fills in its
 * identity. Returns 0, -ESTALE if it is another one, -ENOTTY if its file system does not tell
 * generations, -ETIMEDOUT if it is avoided, also from now on, or another negative errno.
 */
int unwind_reader__identify(struct unwind_mapped *mapped, struct avoided_devices *avoided);

/* A part of the file that is executable. */
struct unwind_segment {
	uint64_t offset, size; /* in the file */
	uint64_t address;      /* of its start */
};

#define UNWIND_SEGMENTS_MAX 8

/* What the caller does with a table, in this order; each returns 0 or a negative errno. */
struct unwind_sink {
	void *context;
	/* Of pages: the first one's address, and how many there are. rules: by their numbers. */
	int (*begin)(void *context, uint64_t start, uint32_t nr_pages,
		     const struct unwind_rule *rules, uint32_t nr_rules);
	/* The rows of one, sorted, whose rules there are; called for those that have any. */
	int (*page)(void *context, uint32_t page, const uint32_t *rows, uint32_t nr);
};

struct unwind_file {
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
	size_t nr_segments;
};

/*
 * The table of what a process has mapped there: it is begun to be read by the first, and given to
 * the sink by the second, which ends it in any case. More than one can be read at a time.
 * Returns 0, -ENOENT if the file has none, -ESTALE if it is another file by now or gone, -ETIMEDOUT
 * as above, -ETIME, -EPIPE if the child died, -EPROTO if it sent nonsense, what the sink returned,
 * or another negative errno.
 */
struct unwind_reading;
int unwind_reader__start(struct unwind_reading **reading, pid_t pid,
			 const struct unwind_mapped *mapped, struct avoided_devices *avoided);
int unwind_reader__finish(struct unwind_reading *reading, struct unwind_file *file,
			  const struct unwind_sink *sink);

#endif
