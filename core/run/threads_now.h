/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the threads of chosen processes do now, by /proc: one that waits, or computes, all the time
 * can be one that no trace sees.
 */
#ifndef TRACEKIT_CORE_RUN_THREADS_NOW_H
#define TRACEKIT_CORE_RUN_THREADS_NOW_H

#include <stdbool.h>
#include <stddef.h>

#include "core/options/pid_list.h"

enum thread_doing {
	THREAD_WAITS,
	THREAD_RUNS, /* or is ready to */
	THREAD_IS_STOPPED,
	THREAD_IS_TRACED, /* stopped by a tracer */
	THREAD_HAS_ENDED, /* but is not collected yet */
	NR_THREAD_DOINGS,
};

/* How a sentence goes on behind "1 thread", and behind "2 threads". */
struct doing_words {
	const char *one, *many;
};

/* Threads wait in few functions of the kernel at a time; more of them are not told apart. */
#define PLACES_MAX 16

struct waiting_place {
	char name[64]; /* of a function of the kernel */
	size_t nr;     /* threads */
};

struct threads_now {
	size_t nr[NR_THREAD_DOINGS];
	struct waiting_place places[PLACES_MAX]; /* most threads first */
	size_t nr_places;
};

/* How many there are; those that have gone meanwhile are none. */
size_t threads_now__count(const struct threads_now *now);

/* Look at the threads of each process of ids, or, with are_threads, at these. */
void threads_now__look(struct threads_now *now, const struct pid_list *ids, bool are_threads);

/*
 * Write it with a NUL, in the order of enum thread_doing: "2 threads wait, in futex_do_wait,
 * do_epoll_wait; 1 thread is stopped". Cut at size.
 */
void threads_now__write(const struct threads_now *now,
			const struct doing_words words[NR_THREAD_DOINGS], char *text, size_t size);

#endif
