/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc has of processes: their list, and files of each. */
#ifndef TRACEKIT_SYM_CHILD_PROC_STAT_H
#define TRACEKIT_SYM_CHILD_PROC_STAT_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * A file of a process in /proc, by its path from the directory at. *file: NULL on failure.
 * Returns 0, -ESRCH if the process has ended, or another negative errno.
 */
int proc_file__open(int at, const char *path, FILE **file);

/*
 * The next process in /proc, or thread in a folder task of it; 0: there is no more, also if
 * directory is NULL.
 */
pid_t proc_directory__next(DIR *directory);

/* From /proc/PID/stat; see proc(5). */
struct proc_stat {
	char state;	      /* a letter; field 3 */
	uint64_t start_time;  /* when the process began, in clock ticks since boot; field 22 */
	uint64_t start_stack; /* another one after exec(); field 28. 0: we may not know */
};

/* Returns 0, -ESRCH or another negative errno. */
int proc_stat__read(pid_t pid, struct proc_stat *stat);

/* By the path of such a file, from the directory at. */
int proc_stat__read_at(int at, const char *path, struct proc_stat *stat);

#endif
