/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes and their files, read under the eyes of a parent (sym/child/supervisor.h). */
#ifndef TRACEKIT_SYM_PROCESS_SUPERVISED_H
#define TRACEKIT_SYM_PROCESS_SUPERVISED_H

#include <sys/types.h>

struct mapping;
struct process;
struct supervisor;

/* As those of sym/process/process.h; -ECANCELED for what is avoided. */
int supervisor__read_process(const struct supervisor *supervisor, struct process *process,
			     pid_t pid);
int supervisor__open_file(const struct supervisor *supervisor, const struct process *process,
			  const struct mapping *mapping);
/*
 * held: a descriptor of the map that was opened earlier, to be copied; -1: it is opened
 * as it is now.
 */
int supervisor__open_jit_map(const struct supervisor *supervisor, const struct process *process,
			     int held);

#endif
