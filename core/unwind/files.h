/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that processes have mapped, each once, whoever has mapped it and wherever: a file
 * has one table for all. The kernel names a file by its device and inode, which can be shown for
 * another file as well or be used again; so a file is told apart by what stat() says of it, which
 * somebody has to open it for, and a name means what it was found to mean, as long as inotify(7)
 * would tell if that were not so any more.
 */
#ifndef TRACEKIT_CORE_UNWIND_FILES_H
#define TRACEKIT_CORE_UNWIND_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/unwind_tables.h"
#include "sym/cfi/reader.h"
#include "sym/cfi/table_reader.h"

struct unwind_known_file {
	struct unwind_mapped mapped; /* as it was found first; source, identity and watch are its */
	uint32_t module;	     /* of unwind_tables; UNWIND_UNKNOWN_MODULE: none yet */
	enum unwind_module_state state;
	struct unwind_file layout; /* once it is loaded */
	uint32_t failures;
	uint64_t retry;	       /* not again before that time */
	bool is_read;	       /* somebody is reading it */
	pid_t wanted_by;       /* a process that has it; or 0 */
	uint64_t wanted_start; /* where that has it */
	uint64_t wanted;       /* the smaller, the earlier */
	uint32_t walks;	       /* that came to it, and had to end there */
};

struct unwind_name {
	uint64_t device, inode, path; /* by a hash of it */
	uint32_t generation;	      /* of the inode, */
	bool has_generation;	      /* if a record has told it */
	char *sought; /* the path of what a record has named, until somebody has looked */
	uint32_t file;
	uint32_t next; /* with its hash, plus 1 */
};

#define UNWIND_NAME_BUCKETS 1024

/* More than there are modules: then those without one are forgotten, and all names. */
#define UNWIND_FILES_MAX ((size_t)2 * UNWIND_MODULES)
#define UNWIND_NAMES_MAX ((size_t)4 * UNWIND_MODULES)

/* All zero is empty. */
struct unwind_files {
	struct unwind_known_file *items;
	size_t nr, capacity;
	struct unwind_name *names;
	size_t nr_names, names_capacity;
	size_t nr_sought;		       /* names that are, at this time */
	uint32_t buckets[UNWIND_NAME_BUCKETS]; /* index of the first name, plus 1 */
};

/* What a mapping is of, instead of the index of a file. */
#define UNWIND_FILE_NONE    ((uint32_t)-1)
#define UNWIND_FILE_UNKNOWN ((uint32_t)-2)

void unwind_files__release(struct unwind_files *files);

/* There are so many that no more can be found. */
bool unwind_files__is_full(const struct unwind_files *files);

/* Then: nobody may refer to any by its index. */
void unwind_files__forget(struct unwind_files *files);

/*
 * The file that was found to be mapped; UNWIND_FILE_NONE for memory without one, and
 * UNWIND_FILE_UNKNOWN for one that cannot be had. Returns 0, -ENOMEM, or -ENOSPC if it is full.
 */
int unwind_files__found(struct unwind_files *files, const struct unwind_mapped *mapped,
			uint32_t *file);

/*
 * The file that a record of the kernel names: UNWIND_FILE_UNKNOWN if it has not been found under
 * that name, or may be another one by now; then it is to be sought, once for each generation.
 */
uint32_t unwind_files__named(struct unwind_files *files, uint64_t device, uint64_t inode,
			     uint32_t generation, const char *path);

/* That was told by unwind_watches__next(): the next record that names the file is not believed. */
void unwind_files__changed(struct unwind_files *files, int watch);

/* Look, by its path, for what has been named and not been found since. */
void unwind_files__seek(struct unwind_files *files, struct avoided_devices *avoided, int watches);

/* From an offset in the file, which has been loaded, to an address in it: of its first code. */
uint64_t unwind_known_file__delta(const struct unwind_known_file *file);

/*
 * What is to be taken from an address where the file is mapped, from that offset on, to have what
 * delta is to be added to. Only where code is in several places of a file, which are not as
 * far from each other in memory, is that more than start - offset. False if there is no code.
 */
bool unwind_known_file__bias(const struct unwind_known_file *file, uint64_t start, uint64_t offset,
			     uint64_t *bias);

#endif
