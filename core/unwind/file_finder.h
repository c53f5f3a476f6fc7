/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files are that walks have come to: children look for them (sym/cfi/reader.h), and then
 * they are numbered, their tables are wanted, and frames in them can be named.
 */
#ifndef TRACEKIT_CORE_UNWIND_FILE_FINDER_H
#define TRACEKIT_CORE_UNWIND_FILE_FINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/unwind/table_queue.h"
#include "sym/cfi/reader.h"
#include "sym/util/text_set.h"

struct file_finder {
	struct table_queue queue;
	bool loads_tables;
	struct unwind_identifier identifier;
	struct unwind_keeper keeper;
	struct text_set needed; /* by a command that does not run yet; each once */
};

/* For the keeper, in a child: context is a file_finder; the file has been opened, and passed on. */
bool file_finder__has(const void *context, const struct mapped_file *file);

/*
 * *index becomes that of the file, for which another one may be forgotten. Returns 0, -ENOMEM, or
 * -ENOSPC if all files are in use.
 */
int file_finder__add(struct file_finder *finder, const struct mapped_file *file, uint32_t *index);

/* Fill in by what frames in the file with that number are named, if nobody has. */
void file_finder__tell(struct file_finder *finder, uint32_t number,
		       const struct unwind_mapped *mapped, pid_t pid);

/* Walks find its module by the file. */
void file_finder__put(struct file_finder *finder, const struct unwind_known_file *file);

/* Look at all files of a process; of one that has ended, or does not answer, none is found. */
void file_finder__read_process(struct file_finder *finder, pid_t pid);

/* Look for the most wanted files that are not found. True if there were any. */
bool file_finder__look(struct file_finder *finder);

/* Begin with the program at path: what it needs is known when its own table has come. */
void file_finder__need_program(struct file_finder *finder, const char *path);

/* As need of struct table_queue; context is a file_finder. */
int file_finder__need(void *context, const char *texts, size_t size);

#endif
