/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk of a thread's user stack in user space, step by step: for those who want to know why a
 * stack is as it is.
 */
#ifndef TRACEKIT_CORE_UNWIND_THREAD_WALK_H
#define TRACEKIT_CORE_UNWIND_THREAD_WALK_H

#include <stdio.h>
#include <sys/types.h>

struct error;

/*
 * Load the tables of what a thread has mapped, stop it, walk its stack, and let it go on. Prints a
 * line for each step, and how the walk has ended. Returns 0 or a negative errno with error filled.
 */
int thread_walk__print(pid_t tid, FILE *out, struct error *error);

#endif
