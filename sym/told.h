/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes that a child of sym/worker.h is told to remember, and every one that
 * comes after it. As in sym/remembered.h, those that are not to be kept are limited,
 * and the least recently used one goes first.
 */
#ifndef TRACEKIT_SYM_TOLD_H
#define TRACEKIT_SYM_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sym_query;

struct told {
	pid_t pid;
	bool kept;
	uint64_t start_time; /* of the process that a child has found; 0: none has yet */
	uint64_t request;    /* by which the child that runs was told; 0: it was not */
	uint64_t used;	     /* the larger, the more recently */
};

struct told_list {
	struct told *items;
	size_t nr, capacity;
	uint64_t uses;
};

/*
 * A process that the child is to be told of, even if it was told of this PID before.
 * Pointers are valid until the list changes. NULL without memory.
 */
struct told *told_list__add(struct told_list *list, pid_t pid, bool kept);
void told_list__release(struct told_list *list);

/* Another child runs, which knows nothing. */
void told_list__restart(struct told_list *list);

/*
 * Who is to be told of next, or NULL: those that are to be kept, and then, if all is set,
 * the others; among these whoever was used last, since it can be read for sure.
 */
struct told *told_list__next(const struct told_list *list, bool all);
struct told *told_list__find_request(const struct told_list *list, uint64_t request);

/* A child has read it, or has not: result is that of remembered_list__add(). */
void told_list__note_answer(struct told_list *list, struct told *told, int result,
			    uint64_t start_time);

/* The processes of these queries are used. */
void told_list__note_question(struct told_list *list, const struct sym_query *queries, size_t nr);

#endif
