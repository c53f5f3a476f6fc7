/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug files from servers, by the command debuginfod-find(1), which keeps what it has
 * fetched in the user's cache. It is run only when the user has asked for that: it tells a
 * server which programs are there, and a process can make it ask for any build ID.
 */
#ifndef TRACEKIT_SYM_SYMFILE_DEBUGINFOD_H
#define TRACEKIT_SYM_SYMFILE_DEBUGINFOD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/symfile/debug_link.h"

struct error;
struct supervisor;

/* How long a run of the program waits for it, in all, in milliseconds. */
#define DEBUGINFOD_MS 30000

struct debuginfod_answer;

struct debuginfod {
	const struct supervisor *supervisor; /* or NULL: nobody watches */
	uint64_t waited_ms; /* of a run that nobody watches; else it is in the progress */
	/* Asked for already, found or not. */
	struct debuginfod_answer *answers;
	size_t nr_answers, answers_capacity;
};

/* Begins as {.supervisor = ...}. */
void debuginfod__release(struct debuginfod *debuginfod);

/*
 * The path of the file with symbols and debug data for that build ID; waits until it is
 * fetched. Each is asked for once: later the answer is the same, and takes no time.
 * Returns 0, -ENOENT if there is none, -ETIME if there is no time left, or another negative
 * errno.
 */
int debuginfod__find(struct debuginfod *debuginfod, const struct debug_id *id, char path[PATH_MAX]);

/* Check that it can be run, and knows servers. Returns 0, or -ENOENT with error filled. */
int debuginfod__check(struct error *error);

#endif
