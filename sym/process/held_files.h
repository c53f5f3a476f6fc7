/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files and JIT maps that were passed (sym/process/passed_file.h), held open: what is in them has
 * names when the processes that had it, and perhaps the files, are gone. When there are more than
 * can be held, the one that came first goes.
 */
#ifndef TRACEKIT_SYM_PROCESS_HELD_FILES_H
#define TRACEKIT_SYM_PROCESS_HELD_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sym/child/supervisor.h"
#include "sym/process/file_identity.h"

#define HELD_FILES_MAX 1000
#define HELD_MAPS_MAX  256

struct passed_file;
struct sym_file_id;

struct held_file {
	int fd;
	struct file_identity identity;
	dev_t device; /* as the kernel shows both where the file is mapped */
	ino_t inode;
};

struct held_map {
	int fd;
	pid_t pid;
	uint64_t program; /* as of struct sym_query */
};

/* All zero but the first three is empty. */
struct held_files {
	const struct supervisor *supervisor;
	size_t max, maps_max; /* HELD_FILES_MAX and HELD_MAPS_MAX at most, but 1 at least */
	struct held_file files[HELD_FILES_MAX];
	struct held_map maps[HELD_MAPS_MAX];
	size_t nr, nr_maps;
	uint64_t came, maps_came; /* ever: the next one takes the place of the first */
};

/* Takes over fd. A map takes the place of the one that its program had before. */
void held_files__pass(struct held_files *held, const struct passed_file *file, int fd);

/*
 * A descriptor of the caller's own for a file, of which pid is a process; or a negative errno:
 * -ENOENT if it is not held, -ESTALE if it was written to since.
 */
int held_files__open(const struct held_files *held, const struct sym_file_id *file, pid_t pid);

/* The same for the JIT map of a program. */
int held_files__open_map(const struct held_files *held, pid_t pid, uint64_t program);

#endif
