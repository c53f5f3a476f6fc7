/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes that a child of sym/worker/worker.h is told to remember, and every one that
 * comes after it. As in sym/process/remembered.h, those that are not to be kept are limited,
 * and the least recently used one goes first.
 */
#ifndef TRACEKIT_SYM_WORKER_TOLD_H
#define TRACEKIT_SYM_WORKER_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct image;
struct message;
struct sym_image;
struct sym_query;

/* Of all images together. */
#define IMAGES_BYTES_MAX ((size_t)4 * 1024 * 1024)

struct told {
	pid_t pid;
	bool kept;
	bool ended;	     /* before a child could read it: its image serves, or nothing */
	bool asked;	     /* for, by the last question */
	uint64_t start_time; /* of the process that a child has found; 0: none has yet */
	uint64_t request;    /* by which the child that runs was told; 0: it was not */
	uint64_t used;	     /* the larger, the more recently */
	struct image *image; /* or NULL */
	size_t image_bytes;
	uint32_t sent; /* mappings of it, to the child that runs; the request follows the last */
};

struct told_list {
	struct told *items;
	size_t nr, capacity;
	uint64_t uses;
	uint64_t images; /* there have been: their versions */
	size_t image_bytes;
};

/*
 * A process that the child is to be told of, even if it was told of this PID before.
 * image, which is copied, takes the place of the one before; NULL: there is no newer one.
 * Pointers are valid until the list changes. NULL without memory.
 */
struct told *told_list__add(struct told_list *list, pid_t pid, bool kept,
			    const struct sym_image *image);
void told_list__release(struct told_list *list);

/* Another child runs, which knows nothing. */
void told_list__restart(struct told_list *list);

/*
 * Who is to be told of next, or NULL: those that come before a question, and then, if all
 * is set, the others; among these whoever was used last, since it can be read for sure.
 * Before a question come those that are to be kept, those that have ended and those that
 * it asks for: these do not become more while a child is told.
 */
struct told *told_list__next(const struct told_list *list, bool all);

/* Who is to be told of before told can be, or told itself, which is waiting for it. */
struct told *told_list__first(const struct told_list *list, struct told *told);

/* The next message about it; true: it is the request, and the last one. */
bool told__fill(const struct told *told, uint64_t number, struct message *message);

struct told *told_list__find_request(const struct told_list *list, uint64_t request);

/* A child has read it, or has not: result is that of remembered_list__add(). */
void told_list__note_answer(struct told_list *list, struct told *told, int result,
			    uint64_t start_time);

/* A question: the processes of its queries are used. */
void told_list__note_question(struct told_list *list, const struct sym_query *queries, size_t nr);

#endif
