/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Have a process remembered: as it is, or else by what is known of it. */
#ifndef TRACEKIT_SYM_PROCESS_REMEMBER_H
#define TRACEKIT_SYM_PROCESS_REMEMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct image;
struct remembered_list;

/* Who is to be remembered. */
struct remember {
	pid_t pid;
	bool kept;  /* it never goes to make room for others */
	bool ended; /* another process may have its PID: nothing but the image is looked at */
	/*
	 * As in struct process; if it is not 0, only the process that began then is meant. Becomes
	 * that of the process that was read, or 0 if the image serves.
	 */
	uint64_t start_time;
	const struct image *image; /* for a process that cannot be read any more; or NULL */
};

/*
 * A process that is remembered already stays so as it was, unless its PID belongs to another
 * one by now or the image is another one. Returns 0, -ESRCH if it has ended and nothing is
 * known of it, or another negative errno.
 */
int remember__process(struct remembered_list *list, struct remember *remember);

#endif
