/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counted stacks as a flame graph: the tree, and what is said about it. */
#ifndef TRACEKIT_CORE_FORMAT_FLAME_STACKS_H
#define TRACEKIT_CORE_FORMAT_FLAME_STACKS_H

#include <stddef.h>

struct flame_tree;
struct shown_stacks;

/* The tree is sorted. Returns 0 or -ENOMEM; either way flame_tree__release() is due. */
int flame_tree__of_stacks(struct flame_tree *tree, const struct shown_stacks *shown);

/*
 * The command line of this process, with a NUL; cut where it is longer. Words that a shell would
 * not leave as they are stand in quotes.
 */
void flame_title(char *text, size_t size);

/* Host, kernel, time, how long it took, how many events were counted and lost. */
void flame_about(const struct shown_stacks *shown, char *text, size_t size);

#endif
