/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of processes, as far as somebody has read them or the kernel has reported them, and
 * which of them are in the tables by which stacks are walked.
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
	bool changed;	 /* the tables may not have its current state */
	uint32_t wanted; /* how many walks have asked for it since it was loaded */
	bool walked;	 /* a walk has asked: its files have modules */
	bool doubted;	 /* a walk came to a place without a known mapping */
	bool unknown;	 /* a record has named a file that nobody has found so far */
	bool ended;	 /* its walks' requests may still be heard */
	uint64_t read;	 /* when its mappings were read: earlier records are in there */
	uint64_t retry;	 /* no look before that time, */
	uint64_t pause;	 /* which was last set so much later */
};

#define KNOWN_PROCESS_BUCKETS 1024

/* All zero, but for what is borrowed, is empty. */
struct known_processes {
	struct unwind_files *files;
	struct unwind_module_list *modules;
	uint64_t since;	       /* all records up to that time have been taken */
	uint32_t nr_no_module; /* files for which no module was left */
	uint32_t nr_no_room;   /* how often the tables had no room for a process */
	bool any_ended;
	struct known_process *buckets[KNOWN_PROCESS_BUCKETS];
	size_t nr;
};

/* Processes must not be removed meanwhile. */
#define known_processes__for_each(process, processes)                                              \
	for (size_t bucket_ = 0; bucket_ < KNOWN_PROCESS_BUCKETS; bucket_++)                       \
		for (struct known_process *process = (processes)->buckets[bucket_]; process;       \
		     process = process->next)

void known_processes__release(struct known_processes *processes);

/* NULL if there is none. */
struct known_process *known_processes__find(const struct known_processes *processes, pid_t pid);

/*
 * Find or add a process; a new one has no mappings. NULL without memory, or if there are too many.
 */
struct known_process *known_processes__add(struct known_processes *processes, pid_t pid);

/* Remove a process, also from the tables. */
void known_processes__remove(struct known_processes *processes, pid_t pid,
			     struct unwind_tables *tables);

/*
 * A walk has asked for the mappings of a process or, by its module, for a file. A process that asks
 * for a module was known: if it is not known any more it has ended, and is not added again.
 */
void known_processes__want(struct known_processes *processes, pid_t pid, bool names_module);

/*
 * Replace all known mappings of a process by those that were read. Returns 1 if they differ, 0 if
 * not, or a negative errno.
 */
int known_process__read(struct known_process *process, struct unwind_files *files,
			const struct unwind_mapped *mapped, size_t nr, uint64_t time);

/* Forget all processes; each is known again when a walk asks for it. */
void known_processes__forget(struct known_processes *processes, struct unwind_tables *tables);

/*
 * Take a record of the kernel. A process that was there before is known when somebody has read it;
 * a new one is known from then on. A process that ends is gone from the tables at once, and known
 * until known_processes__remove_ended().
 */
void known_processes__take(struct known_processes *processes, const struct process_record *record,
			   struct unwind_tables *tables);

/* Remove the ended processes: all requests of their walks have been heard. */
void known_processes__remove_ended(struct known_processes *processes, struct unwind_tables *tables);

/*
 * Write the current state of a process to the tables; of one that has ended, only give modules to
 * its files.
 */
void known_processes__write(struct known_processes *processes, struct known_process *process,
			    struct unwind_tables *tables);

#endif
