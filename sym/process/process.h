/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process: what it has mapped, and how to open the files behind that. */
#ifndef TRACEKIT_SYM_PROCESS_PROCESS_H
#define TRACEKIT_SYM_PROCESS_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

#include "sym/process/maps.h"

struct process {
	pid_t pid;
	/*
	 * A thread of it that has not ended, which /proc is asked for. 0: none is known, and files
	 * are opened by their paths in our own root.
	 */
	pid_t task;
	uint64_t start_time; /* clock ticks since boot: with it a PID means one process for good */
	uint64_t program;    /* another one after exec(), as struct sym_query has it */
	struct mapping_list mappings;
};

/* Returns 0, -ESRCH if it has ended (a zombie has, too), or another negative errno. */
int process__read(struct process *process, pid_t pid);

void process__release(struct process *process);

/*
 * Open for reading the file that is mapped there: never another one, never one
 * that is not a regular file, and without waiting for it. Returns a descriptor
 * or a negative errno.
 */
int process__open_file(const struct process *process, const struct mapping *mapping);

/*
 * Open for reading what path names: in the root of the process, from its current
 * directory if it is relative, and nowhere else. The rest is as for
 * process__open_file(), and it is no file that the kernel makes, as those of /proc.
 * Only task of process is looked at. Returns a descriptor or a negative errno, -EINVAL
 * if it is no such file.
 */
int process__open_path(const struct process *process, const char *path);

/* A directory by its path there, for reading. Returns a descriptor or a negative errno. */
int process__open_directory(const struct process *process, const char *path);

/*
 * The same as process__open_path() for this program itself, wherever path leads: the
 * kernel may make it, as /proc/PID/exe.
 */
int process__open_own_path(const char *path);

/*
 * Open for reading /tmp/perf-PID.map (sym/address/jit_map.h) as the process sees it: in its
 * root, with its PID in its innermost PID namespace. Not waited for, only if it is
 * a regular file and no symbolic link to one, and only if it belongs to the user
 * that the process runs as, or to root and is readable for all. Only pid and task
 * of process are looked at. Returns a descriptor or a negative errno.
 */
int process__open_jit_map(const struct process *process);

#endif
