/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes whose mappings were read, and whose files are held open, so that
 * their addresses have names when they have ended.
 *
 * A file is open once, however many of them have mapped it. Those that nobody
 * has named to be kept are limited, in number, in memory and in files: the least
 * recently used one goes first.
 */
#ifndef TRACEKIT_SYM_PROCESS_REMEMBERED_H
#define TRACEKIT_SYM_PROCESS_REMEMBERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sym/child/supervisor.h"
#include "sym/process/process.h"

/* Processes that are not to be kept: most, and the bytes of all their mappings. */
#define REMEMBERED_MAX	     2048
#define REMEMBERED_BYTES_MAX ((size_t)64 * 1024 * 1024)

struct passed_file;

/* JIT maps that were passed; the one that was passed first goes when there are more. */
#define PASSED_MAPS_MAX 256

struct held_file; /* open, for all mappings that it is behind */

struct held_map {
	pid_t pid;
	uint64_t program; /* as of struct sym_query */
	int fd;
};

struct remembered {
	struct process process;	  /* without a task: it was never read, but stands in for one */
	uint64_t image;		  /* version of the one that was known of it; or 0 */
	struct held_file **files; /* by mapping; NULL: none, or it could not be opened */
	int jit_fd;		  /* or negative */
	/* Of what was never read: a process in whose root its files are; all 0: there is none. */
	pid_t root_pid, root_task;
	uint64_t root_start;
	bool kept;
	size_t bytes;	   /* of its mappings and their paths */
	uint64_t used;	   /* the larger, the more recently */
	unsigned int refs; /* the list's, and those of who uses it */
};

struct remembered_list {
	const struct supervisor *supervisor;
	struct remembered **items;
	size_t nr, capacity;
	size_t bytes; /* of all items */
	struct held_file **files;
	size_t nr_files, files_capacity;
	size_t nr_jit_maps;		       /* with those of maps */
	struct held_map maps[PASSED_MAPS_MAX]; /* that were passed, the first one first */
	size_t nr_maps;
	size_t files_max; /* files and JIT maps together */
	bool full;	  /* there was no room for a file of the process at hand */
	uint64_t uses;
};

/*
 * Hold a file that whatever has it mapped, or generated code, may be named by. Takes over its
 * descriptor. Those that came first go when others need the room.
 */
void remembered_list__pass(struct remembered_list *list, const struct passed_file *file, int fd);

/*
 * A descriptor of the caller's own for the JIT map of a program that was passed, or a negative
 * errno.
 */
int remembered_list__copy_map(const struct remembered_list *list, pid_t pid, uint64_t program);

/* The process that was remembered under pid, now used, or NULL; valid until the next call. */
struct remembered *remembered_list__find(struct remembered_list *list, pid_t pid);

/* Whoever holds a reference can use it after it has gone from the list. */
struct remembered *remembered__get(struct remembered *remembered);
void remembered_list__put(struct remembered_list *list, struct remembered *remembered);

/*
 * A process in the place of the one that was remembered under its PID; kept: it never goes
 * to make room for others. Takes over its mappings. base, or NULL: a process that has files
 * open which this one may have mapped as well; whoever calls has a reference. Returns 0 or
 * -ENOMEM.
 */
int remembered_list__add(struct remembered_list *list, struct process *process, bool kept,
			 uint64_t image, const struct remembered *base);
void remembered_list__drop(struct remembered_list *list, pid_t pid);

/*
 * What the same process has mapped by now takes the place of what it had. Takes over
 * the mappings of current. Returns 0 or -ENOMEM.
 */
int remembered_list__renew(struct remembered_list *list, struct remembered *remembered,
			   struct process *current);

/* A copy of fd becomes its JIT map. */
void remembered_list__renew_jit_map(struct remembered_list *list, struct remembered *remembered,
				    int fd);

/*
 * A descriptor of the caller's own for the file of that mapping of remembered, or -errno:
 * -ENOENT if none is held, -ESTALE if it was overwritten since.
 */
int remembered_list__copy_file(const struct remembered_list *list,
			       const struct remembered *remembered, const struct mapping *mapping);

#endif
