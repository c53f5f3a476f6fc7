/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks that are merged from their roots on: what a flame graph draws. */
#ifndef TRACEKIT_CORE_FLAME_FLAME_TREE_H
#define TRACEKIT_CORE_FLAME_FLAME_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/util/text_set.h"

enum flame_kind {
	FLAME_PROCESS, /* the name of a process, below all of its frames */
	FLAME_USER,
	FLAME_KERNEL,
	FLAME_INLINED,
	FLAME_GENERATED, /* code that the process has made */
	FLAME_UNKNOWN,	 /* without a name */
	FLAME_MARK,	 /* no function, but a word about the stack */
	NR_FLAME_KINDS,
};

struct flame_frame {
	const char *text;
	const char *module; /* or NULL */
	enum flame_kind kind;
};

struct flame_node {
	const char *text; /* equal texts of a tree are one, as are modules */
	const char *module;
	uint64_t total; /* weight of all stacks that go through it */
	uint64_t self;	/* of those that end in it */
	/* Both of an earlier run, which the tree may hold for comparison. */
	uint64_t total_before, self_before;
	uint32_t parent;
	uint32_t callee; /* the first one; 0: none */
	uint32_t next;	 /* of the same parent; 0: the last one */
	uint32_t depth;
	enum flame_kind kind;
};

/* All zero is empty: flame_tree__add() makes the root, node 0, which is all stacks. */
struct flame_tree {
	/*
	 * Set by the caller: frames of the same name are one, also if their kinds differ, as those
	 * of two files that know more and less about them.
	 */
	bool by_name;
	struct flame_node *nodes;
	size_t nr, capacity;
	/* Nodes by parent, text and, if not by_name, kind: 1 more than a number; 0: a free slot. */
	uint32_t *slots;
	size_t nr_slots;
	struct text_set texts;
};

/*
 * Add a stack, from its root; all texts are copied. The caller sees to it that the sum of all
 * weights fits. Returns 0 or -ENOMEM.
 */
int flame_tree__add(struct flame_tree *tree, const struct flame_frame *frames, size_t nr,
		    uint64_t weight);

/* The same for a stack of the earlier run. */
int flame_tree__add_before(struct flame_tree *tree, const struct flame_frame *frames, size_t nr,
			   uint64_t weight);

/* Callees come in the order of their texts from now on. Returns 0 or -ENOMEM. */
int flame_tree__sort(struct flame_tree *tree);

/* Of a sorted tree: the node behind number, each before its callees; 0 behind the last. */
uint32_t flame_tree__next(const struct flame_tree *tree, uint32_t number);

/* The same without the callees of number. */
uint32_t flame_tree__skip(const struct flame_tree *tree, uint32_t number);

void flame_tree__release(struct flame_tree *tree);

#endif
