/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes that are at work now: their files are the first that a trace of all needs. */
#ifndef TRACEKIT_CORE_UNWIND_RUNNING_H
#define TRACEKIT_CORE_UNWIND_RUNNING_H

#include <stdint.h>

struct pid_list;

/*
 * Append all other programs of which a thread runs, or waits for a CPU; no more after the time
 * until (monotonic_now()). The list is the caller's to free. Returns 0 or -ENOMEM.
 */
int running_processes__add(struct pid_list *pids, uint64_t until);

#endif
