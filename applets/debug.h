/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What helps those who work on tracekit; in no help. */
#ifndef TRACEKIT_APPLETS_DEBUG_H
#define TRACEKIT_APPLETS_DEBUG_H

#include <stdio.h>

struct error;

/*
 * argv: from the word debug on, NULL behind the last.
 *   walk PID              the walk of a thread's stack, step by step
 *   table FILE [ADDRESS]  the rows that a file has for walks, or the one for an offset in the file
 *   name PID ADDRESS      what the symbolizer answers, and where it has found that
 * Returns 0 or a negative errno with error filled, -EINVAL if that is no such command line.
 */
int debug__run(int argc, char **argv, FILE *out, struct error *error);

#endif
