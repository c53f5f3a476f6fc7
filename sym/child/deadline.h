/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long a child that reads may go on without an answer, or progress. */
#ifndef TRACEKIT_SYM_CHILD_DEADLINE_H
#define TRACEKIT_SYM_CHILD_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct progress;

/*
 * How long a request may take in all, how long the child may wait without any
 * progress for what has no device of its own (a file system in user space for
 * one) or for the mappings of a process, and how often the parent looks. A disk
 * may use all the time there is: no user can make a block device hang.
 */
#define DEADLINE_MS 10000
#define SILENCE_MS  1000
#define LOOK_MS	    50

/* In milliseconds, of CLOCK_MONOTONIC. */
struct deadline {
	uint64_t end;	      /* of the request that is open */
	uint64_t looked;      /* when the progress was looked at */
	uint64_t waited;      /* how long there was none by then */
	uint64_t steps, work; /* as they were then */
	uint64_t server_ms;   /* the same; a server's time is the user's own wish */
};

/* A request begins, and may take so many milliseconds in all. */
void deadline__renew(struct deadline *deadline, uint64_t milliseconds);

/* Something has come from the child, or it has been given something to do. */
void deadline__note_progress(struct deadline *deadline, const struct progress *progress);

/*
 * To be called every LOOK_MS at least. Returns 0, -ETIMEDOUT if the child waits for what
 * does not answer, or -ETIME at the deadline.
 */
int deadline__check(struct deadline *deadline, const struct progress *progress, pid_t child);

/*
 * True if a child of ours has ended within so many milliseconds: it is reaped then, and *status, if
 * not NULL, is as of waitpid(). True with *status as it was if somebody else has waited for it, or
 * if SIGCHLD is ignored.
 */
bool deadline__await_end(pid_t child, int milliseconds, int *status);

/* Kill a child that has not ended, and return the same. */
bool deadline__kill(pid_t child, int milliseconds);

#endif
