/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A child that works for the process that has forked it, and that the user knows nothing of. */
#ifndef TRACEKIT_SYM_UTIL_CHILD_H
#define TRACEKIT_SYM_UTIL_CHILD_H

/*
 * To be called first in the child: Ctrl-C, which the terminal sends to it as well, is for the
 * parent; without the parent the child ends. Whoever changes user (sym/child/sandbox.h) has to ask
 * for that end again.
 */
void child__begin(void);

/* Have each child call that as well when it begins, and the children of children; NULL: nothing. */
void child__on_begin(void (*function)(void));

#endif
