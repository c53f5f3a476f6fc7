/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a probe spec to the list of its targets on this machine. */
#ifndef TRACEKIT_CORE_PROBE_TARGETS_H
#define TRACEKIT_CORE_PROBE_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "core/probe/probespec.h"
#include "core/probe/tracepoints.h"
#include "sym/util/arena.h"

struct error;
struct pid_list;

struct target {
	const char *name; /* function; "category:event"; "provider:probe" */
	uint64_t address; /* of a kernel function, 0: not known; of user code: offset in its file */
	uint64_t semaphore;	  /* of a USDT probe: offset in the file; 0: has none */
	uint64_t semaphore_shift; /* of struct probe_site */
	uint32_t breakpoints;	  /* as well */
	uint32_t file;		  /* of user code: index into the list's files */
	bool misread;	/* a breakpoint there would break the program: not to be attached */
	bool ambiguous; /* a kernel function of several with its name, and without address */
};

/* A program or library whose code is probed. */
struct target_file {
	int fd;
	char *path;  /* for people: where it was found */
	pid_t *pids; /* of the processes that it was found for; NULL: of all */
	size_t nr_pids, pids_capacity;
};

/* All zero is an empty list. */
struct target_list {
	enum probe_kind kind;
	/* User code file by file, with misread ones last; ambiguous functions last. */
	struct target *targets;
	size_t nr, capacity;
	size_t probes; /* how many there are for the user: the sites of one USDT probe are one */
	struct target_file *files;
	size_t nr_files, files_capacity;
	struct tracepoint_list tracepoints; /* of the targets, in their order */
	size_t indirect;      /* how many are functions that only choose another one (IFUNC) */
	size_t without_place; /* USDT probes left out: their semaphore is in no place of the file */
	struct arena names;
};

/*
 * Find all that spec matches; user code in the files as the processes of pids see them or, if pids
 * is empty, as we do. Returns 0, -ENOENT if nothing matches, or another negative errno; then error
 * is filled and says what was searched.
 */
int target_list__find(struct target_list *list, const struct probespec *spec,
		      const struct pid_list *pids, struct error *error);
void target_list__release(struct target_list *list);

/* -l: print a line for each target, which is a pattern. Errors stay in the FILE. */
void target_list__print(const struct target_list *list, FILE *out);

#endif
