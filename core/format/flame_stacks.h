/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counted stacks as a flame graph: the tree, and what is said about it. */
#ifndef TRACEKIT_CORE_FORMAT_FLAME_STACKS_H
#define TRACEKIT_CORE_FORMAT_FLAME_STACKS_H

#include "core/flame/flame_picture.h"
#include "core/flame/flame_tree.h"

struct shown_stacks;

struct flame_stacks {
	struct flame_tree tree;
	char title[512]; /* the command line, cut where it is longer */
	char about[512]; /* host, kernel, time, how long it took, what was counted and lost */
	struct flame_picture picture; /* of these; borrows them */
};

/* Returns 0 or -ENOMEM; either way flame_stacks__release() is due. */
int flame_stacks__make(struct flame_stacks *stacks, const struct shown_stacks *shown);
void flame_stacks__release(struct flame_stacks *stacks);

#endif
