/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes and their files, read under the eyes of a parent (sym/child/watched.h). */
#ifndef TRACEKIT_SYM_PROCESS_WATCHED_PROCESS_H
#define TRACEKIT_SYM_PROCESS_WATCHED_PROCESS_H

#include <sys/types.h>

struct mapping;
struct process;
struct watched;

/* As those of sym/process/process.h; -ECANCELED for what is avoided. */
int watched__read_process(const struct watched *watched, struct process *process, pid_t pid);
int watched__open_file(const struct watched *watched, const struct process *process,
		       const struct mapping *mapping);
/*
 * held: a descriptor of the map that was opened earlier, to be copied; -1: it is opened
 * as it is now.
 */
int watched__open_jit_map(const struct watched *watched, const struct process *process, int held);

#endif
