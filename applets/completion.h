/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion of command lines: scripts for shells, made of the option tables. */
#ifndef TRACEKIT_APPLETS_COMPLETION_H
#define TRACEKIT_APPLETS_COMPLETION_H

#include <stdio.h>

struct applet;
struct command;

/* The shells that there are scripts for; ends with NULL. */
extern const char *const completion_shells[];

/*
 * Print the script with which a shell completes words behind tracekit, whose own options are in
 * binary, and behind the name of each applet. Returns 0, or -EINVAL if shell is none of
 * completion_shells; errors of writing stay in the FILE.
 */
int completion__print(const char *shell, const struct command *binary,
		      const struct applet *const *applets, FILE *out);

#endif
