/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that /proc has of each process, and when a process began. */
#ifndef TRACEKIT_SYM_CHILD_PROC_STAT_H
#define TRACEKIT_SYM_CHILD_PROC_STAT_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * A file of a process in /proc, by its path from the directory at. *file: NULL on failure.
 * Returns 0, -ESRCH if the process has ended, or another negative errno.
 */
int proc_file__open(int at, const char *path, FILE **file);

/*
 * Fields 3 and 22 of /proc/PID/stat: the state, a letter as in proc(5), and the
 * time at which the process began, in clock ticks since boot. Returns 0, -ESRCH
 * or another negative errno.
 */
int proc_stat__read(pid_t pid, char *state, uint64_t *start_time);

/* The same of the file stat in at, the directory of a process. */
int proc_stat__read_at(int at, char *state, uint64_t *start_time);

#endif
