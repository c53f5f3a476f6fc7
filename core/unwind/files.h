/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that walks have come to, each once, whoever has mapped it and wherever: a file has one
 * table for all. They are told apart as the kernel does (struct mapped_file): a file that is
 * written to is another one from then on.
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
	/* Where it was found; until then, while source is UNWIND_SOURCE_NONE, only file is set, and
	 * path is below the root of its file system. */
	struct unwind_mapped mapped;
	uint32_t module; /* of unwind_tables; UNWIND_UNKNOWN_MODULE: none yet */
	uint32_t failures;
	uint32_t refusals;     /* that often its tables had no room, in a row */
	uint64_t retry;	       /* no try before that time */
	bool is_read;	       /* somebody is reading it */
	pid_t wanted_by;       /* a process that has it; or 0 */
	uint64_t wanted_start; /* where that process has it */
	uint64_t wanted;       /* smaller: wanted earlier */
	uint64_t began;	       /* when somebody began to read its table last */
	uint32_t walks;	       /* that had to end in this file; half as many after each second */
	uint64_t walked;       /* the second of the last one */
	uint32_t heard;	       /* when it was found or wanted last, by unwind_age() */
	uint32_t next;	       /* index of the next in its bucket, or of those removed, plus 1 */
};

static inline bool unwind_known_file__is_found(const struct unwind_known_file *file)
{
	return file->mapped.source != UNWIND_SOURCE_NONE;
}

#define UNWIND_FILE_BUCKETS 1024

/* All zero is empty. */
struct unwind_files {
	struct unwind_known_file *items;
	size_t nr, capacity;
	uint32_t buckets[UNWIND_FILE_BUCKETS]; /* index of the first, plus 1 */
	uint32_t of_module[UNWIND_MODULES];    /* index of the file, plus 1 */
	uint32_t removed;		       /* the first that was; index plus 1 */
};

#define UNWIND_FILE_NONE ((uint32_t)-1)

void unwind_files__release(struct unwind_files *files);

/*
 * *index becomes the index of the file, which is added if it is new. Returns 0, -ENOMEM, or -ENOSPC
 * if there are UNWIND_FILES.
 */
int unwind_files__add(struct unwind_files *files, const struct mapped_file *file, uint32_t *index);

/* NULL if it is not there; valid until one is added. */
const struct unwind_known_file *unwind_files__find(const struct unwind_files *files,
						   const struct mapped_file *file);

/* UNWIND_FILE_NONE if no file has the module. */
uint32_t unwind_files__with_module(const struct unwind_files *files, uint32_t module);
void unwind_files__set_module(struct unwind_files *files, uint32_t index, uint32_t module);

/* Forget a file: the next that is added can get its index. */
void unwind_files__remove(struct unwind_files *files, uint32_t index);

#endif
