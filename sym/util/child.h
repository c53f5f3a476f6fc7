/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A child that works for the process that has forked it, and that the user knows nothing of. */
#ifndef TRACEKIT_SYM_UTIL_CHILD_H
#define TRACEKIT_SYM_UTIL_CHILD_H

#include <sys/types.h>

#include "sym/util/debug_log.h"

/* What a child is for, and which word of TRACEKIT_DEBUG has lines about its life. */
struct child_role {
	const char *name;
	enum debug_log_topic topic;
};

/*
 * To be called first in the child: Ctrl-C, which the terminal sends to it as well, is for the
 * parent; without the parent the child ends. Whoever changes user (sym/child/sandbox.h) has to ask
 * for that end again. role: for as long as the child lives.
 */
void child__begin(const struct child_role *role);

/* Have each child call that as well when it begins, and the children of children; NULL: nothing. */
void child__on_begin(void (*function)(void));

/*
 * In the parent, for TRACEKIT_DEBUG: a child has been started (pid as of fork(): nothing is said of
 * a failure); it has ended, or, why being a negative errno, it is given up: -ETIMEDOUT, -ETIME,
 * -EPIPE, -EPROTO or another one.
 */
void child__note_start(const struct child_role *role, pid_t pid);
void child__note_end(const struct child_role *role, pid_t pid, int why);

#endif
