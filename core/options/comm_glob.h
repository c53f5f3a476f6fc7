/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A glob for names of threads, as BPF programs match it. */
#ifndef TRACEKIT_CORE_OPTIONS_COMM_GLOB_H
#define TRACEKIT_CORE_OPTIONS_COMM_GLOB_H

struct comm_glob;

/*
 * A glob as of core/options/glob.h, in which a backslash takes the meaning of what follows. Returns
 * 0; -EINVAL: a set or a backslash does not end; -E2BIG: it only matches names that are longer than
 * those of threads.
 */
int comm_glob__compile(struct comm_glob *glob, const char *pattern);

#endif
