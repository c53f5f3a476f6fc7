/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes have mapped, as far as somebody has looked or the kernel has said, and which
 * of that is in the tables by which stacks are walked.
 */
#ifndef TRACEKIT_CORE_UNWIND_PROCESSES_H
#define TRACEKIT_CORE_UNWIND_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/unwind/tables.h"

struct process_record;
struct unwind_files;
struct unwind_mapped;
struct unwind_module_list;

struct known_mapping {
	uint64_t start, end, offset;
	uint32_t file; /* or one of UNWIND_FILE_NONE and _UNKNOWN */
};

struct known_process {
	pid_t pid;
	struct known_process *next;	/* in its bucket */
	struct known_mapping *mappings; /* sorted and disjoint */
	size_t nr, capacity;
	struct unwind_slice slice;
	bool changed;	 /* the tables may not have it as it is */
	uint32_t wanted; /* how many walks have asked for it since it was loaded */
	bool walked;	 /* one has asked: its files have modules */
	bool doubted;	 /* one came to where nothing is known to be mapped */
	bool unknown;	 /* a record has named a file that nobody has found so far */
	bool ended;	 /* what its walks have asked for may be heard yet */
	uint64_t read;	 /* when its mappings were read: records before that are in there */
	uint64_t retry;	 /* not again before that time, */
	uint64_t pause;	 /* which became so much later the last time */
};

#define KNOWN_PROCESS_BUCKETS 1024

/* All zero, but for what is borrowed, is empty. */
struct known_processes {
	struct unwind_files *files;
	struct unwind_module_list *modules;
	uint64_t since;	       /* all records up to that time have been taken */
	uint32_t nr_no_module; /* files that are to have one, and for which none was left */
	uint32_t nr_no_room;   /* how often there was none in the tables for what one has */
	bool any_ended;
	struct known_process *buckets[KNOWN_PROCESS_BUCKETS];
	size_t nr;
};

/* Not to be removed meanwhile. */
#define known_processes__for_each(process, processes)                                              \
	for (size_t bucket_ = 0; bucket_ < KNOWN_PROCESS_BUCKETS; bucket_++)                       \
		for (struct known_process *process = (processes)->buckets[bucket_]; process;       \
		     process = process->next)

void known_processes__release(struct known_processes *processes);

/* NULL if there is none. */
struct known_process *known_processes__find(const struct known_processes *processes, pid_t pid);

/* Found, or new and without mappings; NULL without memory, or when there are too many. */
struct known_process *known_processes__add(struct known_processes *processes, pid_t pid);

/* Gone from the tables as well. */
void known_processes__remove(struct known_processes *processes, pid_t pid,
			     struct unwind_tables *tables);

/*
 * A walk has asked for what a process has mapped, or for a file of it by its module. Who asks for
 * the latter was known, so where nobody is any more it has ended, and is not to be known again.
 */
void known_processes__want(struct known_processes *processes, pid_t pid, bool names_module);

/*
 * What somebody has read of it, which takes the place of all that was known. Returns whether
 * it was something else, or a negative errno.
 */
int known_process__read(struct known_process *process, struct unwind_files *files,
			const struct unwind_mapped *mapped, size_t nr, uint64_t time);

/* All of them are gone, and known again when they are asked for. */
void known_processes__forget(struct known_processes *processes, struct unwind_tables *tables);

/*
 * What the kernel says, up to since. A process that was there before is known when somebody has
 * read it; one that begins is known from then on. One that ends is gone from the tables at once,
 * and known until known_processes__remove_ended().
 */
void known_processes__take(struct known_processes *processes, const struct process_record *record,
			   struct unwind_tables *tables);

/* Its walks have been heard to the last. */
void known_processes__remove_ended(struct known_processes *processes, struct unwind_tables *tables);

/* Have the tables have it as it is; of one that has ended, modules for its files only. */
void known_processes__write(struct known_processes *processes, struct known_process *process,
			    struct unwind_tables *tables);

#endif
