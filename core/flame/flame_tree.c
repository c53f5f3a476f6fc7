// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/flame/flame_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/* The tree's own copy of a text; NULL: out of memory. */
static const char *intern(struct flame_tree *tree, const char *text)
{
	uint32_t number;

	return text_set__add(&tree->texts, text, &number) ? NULL : tree->texts.texts[number];
}

/* Texts of the tree are one where they are equal. */
static bool is_same(const struct flame_tree *tree, const struct flame_node *a,
		    const struct flame_node *b)
{
	return a->parent == b->parent && a->text == b->text &&
	       (tree->by_name || a->kind == b->kind);
}

/* The slot of a node like this, or the free one where it belongs. */
static size_t slot_of(const struct flame_tree *tree, const struct flame_node *node)
{
	uint64_t kind = tree->by_name ? 0 : node->kind;
	uint64_t hash =
		(uintptr_t)node->text * 0x100000001b3 + ((uint64_t)node->parent << 3 | kind);
	size_t at = (hash ^ hash >> 29) * 0x9e3779b97f4a7c15 >> 20 & (tree->nr_slots - 1);

	while (tree->slots[at] && !is_same(tree, &tree->nodes[tree->slots[at] - 1], node))
		at = (at + 1) & (tree->nr_slots - 1);
	return at;
}

/* Half of the slots stay free. */
static int grow(struct flame_tree *tree)
{
	size_t nr = tree->nr_slots ? 2 * tree->nr_slots : 64;
	uint32_t *slots;

	if (tree->nr < tree->nr_slots / 2)
		return 0;
	slots = calloc(nr, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(tree->slots);
	tree->slots = slots;
	tree->nr_slots = nr;
	for (size_t i = 1; i < tree->nr; i++)
		tree->slots[slot_of(tree, &tree->nodes[i])] = (uint32_t)i + 1;
	return 0;
}

static int add_node(struct flame_tree *tree, struct flame_node node)
{
	if (ARRAY_GROW(tree->nodes, tree->nr, tree->capacity))
		return -ENOMEM;
	tree->nodes[tree->nr++] = node;
	return 0;
}

/* A name alone says FLAME_USER: whoever knows more is right. */
static void learn(struct flame_node *node, const struct flame_node *other)
{
	if (node->kind == FLAME_USER)
		node->kind = other->kind;
	if (!node->module)
		node->module = other->module;
}

/* The callee of parent for that frame, made if there is none; 0: out of memory. */
static uint32_t callee_of(struct flame_tree *tree, uint32_t parent, const struct flame_frame *frame)
{
	struct flame_node node = {
		.parent = parent, .kind = frame->kind, .depth = tree->nodes[parent].depth + 1};
	size_t at;

	node.text = intern(tree, frame->text);
	node.module = frame->module ? intern(tree, frame->module) : NULL;
	if (!node.text || (frame->module && !node.module) || grow(tree))
		return 0;
	at = slot_of(tree, &node);
	if (tree->slots[at]) {
		learn(&tree->nodes[tree->slots[at] - 1], &node);
		return tree->slots[at] - 1;
	}
	node.next = tree->nodes[parent].callee;
	if (add_node(tree, node))
		return 0;
	tree->slots[at] = (uint32_t)tree->nr;
	tree->nodes[parent].callee = (uint32_t)tree->nr - 1;
	return (uint32_t)tree->nr - 1;
}

/* *leaf: the node that a stack ends in, made if there is none. Returns 0 or -ENOMEM. */
static int find_leaf(struct flame_tree *tree, const struct flame_frame *frames, size_t nr,
		     uint32_t *leaf)
{
	*leaf = 0;
	if (tree->nr == 0 && add_node(tree, (struct flame_node){.text = "all", .kind = FLAME_MARK}))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		*leaf = callee_of(tree, *leaf, &frames[i]);
		if (!*leaf)
			return -ENOMEM;
	}
	return 0;
}

/* Add to the weights of a stack in the run that is drawn, and in the earlier one. */
static int add_weights(struct flame_tree *tree, const struct flame_frame *frames, size_t nr,
		       uint64_t now, uint64_t before)
{
	uint32_t at;

	if (find_leaf(tree, frames, nr, &at))
		return -ENOMEM;
	tree->nodes[at].self += now;
	tree->nodes[at].self_before += before;
	for (;; at = tree->nodes[at].parent) {
		tree->nodes[at].total += now;
		tree->nodes[at].total_before += before;
		if (at == 0)
			return 0;
	}
}

int flame_tree__add(struct flame_tree *tree, const struct flame_frame *frames, size_t nr,
		    uint64_t weight)
{
	return add_weights(tree, frames, nr, weight, 0);
}

int flame_tree__add_before(struct flame_tree *tree, const struct flame_frame *frames, size_t nr,
			   uint64_t weight)
{
	return add_weights(tree, frames, nr, 0, weight);
}

/* ---- in order ---- */

struct flame_callee {
	const struct flame_node *node;
	uint32_t number;
};

static int compare_callees(const void *left, const void *right)
{
	const struct flame_callee *a = left, *b = right;
	int order = strcmp(a->node->text, b->node->text);

	return order ? order : COMPARE(a->node->kind, b->node->kind);
}

int flame_tree__sort(struct flame_tree *tree)
{
	CLEANUP_FREE struct flame_callee *callees = calloc(tree->nr + 1, sizeof(*callees));

	if (!callees)
		return -ENOMEM;
	for (size_t i = 0; i < tree->nr; i++) {
		size_t nr = 0;
		uint32_t next = 0;

		for (uint32_t at = tree->nodes[i].callee; at; at = tree->nodes[at].next)
			callees[nr++] = (struct flame_callee){&tree->nodes[at], at};
		array__sort(callees, nr, sizeof(*callees), compare_callees);
		while (nr-- > 0) {
			tree->nodes[callees[nr].number].next = next;
			next = callees[nr].number;
		}
		tree->nodes[i].callee = next;
	}
	return 0;
}

uint32_t flame_tree__next(const struct flame_tree *tree, uint32_t number)
{
	uint32_t callee = tree->nodes[number].callee;

	return callee ? callee : flame_tree__skip(tree, number);
}

uint32_t flame_tree__skip(const struct flame_tree *tree, uint32_t number)
{
	while (number && !tree->nodes[number].next)
		number = tree->nodes[number].parent;
	return number ? tree->nodes[number].next : 0;
}

void flame_tree__release(struct flame_tree *tree)
{
	free(tree->nodes);
	free(tree->slots);
	text_set__release(&tree->texts);
	*tree = (struct flame_tree){0};
}
