/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that processes have mapped, each once, whoever has mapped it and wherever: a file has
 * one table for all. The kernel names a file by its device and inode, but it can show these for
 * another file as well, or use them again. So stat() tells files apart, for which somebody has to
 * open them; a name keeps the meaning that was found, as long as inotify(7) would report a change.
 */
#ifndef TRACEKIT_CORE_UNWIND_FILES_H
#define TRACEKIT_CORE_UNWIND_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/unwind_tables.h"
#include "sym/cfi/reader.h"

struct unwind_known_file {
	struct unwind_mapped mapped; /* as first found; source, identity and watch are the file's */
	uint32_t module;	     /* of unwind_tables; UNWIND_UNKNOWN_MODULE: none yet */
	enum unwind_module_state state;
	uint32_t failures;
	uint64_t retry;	       /* no try before that time */
	bool is_read;	       /* somebody is reading it */
	pid_t wanted_by;       /* a process that has it; or 0 */
	uint64_t wanted_start; /* where that process has it */
	uint64_t wanted;       /* smaller: wanted earlier */
	uint32_t walks;	       /* walks that had to end in this file */
};

struct unwind_name {
	uint64_t device, inode, path; /* path is a hash */
	uint32_t generation;	      /* of the inode, */
	bool has_generation;	      /* a record has told it */
	char *sought; /* the path that a record has named, until somebody has looked */
	uint32_t file;
	uint32_t next; /* index of the next with its hash, plus 1 */
};

#define UNWIND_NAME_BUCKETS 1024

/* More than there are modules. When full, files without a module and all names are forgotten. */
#define UNWIND_FILES_MAX ((size_t)2 * UNWIND_MODULES)
#define UNWIND_NAMES_MAX ((size_t)4 * UNWIND_MODULES)

/* All zero is empty. */
struct unwind_files {
	struct unwind_known_file *items;
	size_t nr, capacity;
	struct unwind_name *names;
	size_t nr_names, names_capacity;
	size_t nr_sought;		       /* names that are sought now */
	uint32_t buckets[UNWIND_NAME_BUCKETS]; /* index of the first name, plus 1 */
};

/* A mapping has these instead of the index of a file. */
#define UNWIND_FILE_NONE    ((uint32_t)-1)
#define UNWIND_FILE_UNKNOWN ((uint32_t)-2)

void unwind_files__release(struct unwind_files *files);

/* True if there are so many that no more can be added. */
bool unwind_files__is_full(const struct unwind_files *files);

/* Make room when it is full: nobody may refer to a file by its index. */
void unwind_files__forget(struct unwind_files *files);

/*
 * *file becomes the file that was found to be mapped; UNWIND_FILE_NONE for memory without a file,
 * UNWIND_FILE_UNKNOWN if the file cannot be had. Returns 0, -ENOMEM, or -ENOSPC if it is full.
 */
int unwind_files__found(struct unwind_files *files, const struct unwind_mapped *mapped,
			uint32_t *file);

/*
 * The file that a record of the kernel names; UNWIND_FILE_UNKNOWN if none has been found under that
 * name, or the name may mean another file by now; then the file will be sought, once for each
 * generation.
 */
uint32_t unwind_files__named(struct unwind_files *files, uint64_t device, uint64_t inode,
			     uint32_t generation, const char *path);

/* unwind_watches__next() told watch: do not believe the next record that names its file. */
void unwind_files__changed(struct unwind_files *files, int watch);

/* Look, by path, for files that records have named and nobody has found since. */
void unwind_files__seek(struct unwind_files *files, struct avoided_devices *avoided, int watches);

#endif
