// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/flame/flame_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/hash.h"

/* ---- sets of numbers, found by a hash of what they stand for ---- */

static size_t slot_of(const struct flame_slots *set, uint64_t hash)
{
	return (hash ^ hash >> 29) * 0x9e3779b97f4a7c15 >> 20 & (set->capacity - 1);
}

/* Room for one more. hash_of: of what a number stands for. Returns 0 or -ENOMEM. */
static int grow(struct flame_slots *set, const struct flame_tree *tree,
		uint64_t (*hash_of)(const struct flame_tree *tree, uint32_t number))
{
	struct flame_slots grown = {.nr = set->nr,
				    .capacity = set->capacity ? 2 * set->capacity : 64};

	if (set->nr < set->capacity / 2)
		return 0;
	grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < set->capacity; i++) {
		size_t at;

		if (!set->slots[i])
			continue;
		at = slot_of(&grown, hash_of(tree, set->slots[i] - 1));
		while (grown.slots[at])
			at = (at + 1) & (grown.capacity - 1);
		grown.slots[at] = set->slots[i];
	}
	free(set->slots);
	*set = grown;
	return 0;
}

/* ---- texts, each once ---- */

static uint64_t text_hash(const struct flame_tree *tree, uint32_t number)
{
	return hash__text(tree->strings[number]);
}

/* The tree's own copy of a text; NULL: out of memory. */
static const char *intern(struct flame_tree *tree, const char *text)
{
	size_t at;
	char *copy;

	if (grow(&tree->texts, tree, text_hash))
		return NULL;
	at = slot_of(&tree->texts, hash__text(text));
	for (; tree->texts.slots[at]; at = (at + 1) & (tree->texts.capacity - 1))
		if (!strcmp(tree->strings[tree->texts.slots[at] - 1], text))
			return tree->strings[tree->texts.slots[at] - 1];
	copy = arena__copy_string(&tree->arena, text, strlen(text));
	if (!copy || ARRAY_GROW(tree->strings, tree->nr_strings, tree->strings_capacity))
		return NULL;
	tree->strings[tree->nr_strings++] = copy;
	tree->texts.slots[at] = (uint32_t)tree->nr_strings;
	tree->texts.nr++;
	return copy;
}

/* ---- nodes ---- */

static uint64_t key_hash(uint32_t parent, const char *text, enum flame_kind kind)
{
	return (uintptr_t)text * 0x100000001b3 + ((uint64_t)parent << 3 | kind);
}

static uint64_t node_hash(const struct flame_tree *tree, uint32_t number)
{
	const struct flame_node *node = &tree->nodes[number];

	return key_hash(node->parent, node->text, node->kind);
}

static int add_node(struct flame_tree *tree, struct flame_node node)
{
	if (ARRAY_GROW(tree->nodes, tree->nr, tree->capacity))
		return -ENOMEM;
	tree->nodes[tree->nr++] = node;
	return 0;
}

/* The callee of parent for that frame, made if there is none; 0: out of memory. */
static uint32_t callee_of(struct flame_tree *tree, uint32_t parent, const struct flame_frame *frame)
{
	struct flame_node node = {
		.parent = parent, .kind = frame->kind, .depth = tree->nodes[parent].depth + 1};
	size_t at;

	node.text = intern(tree, frame->text);
	node.module = frame->module ? intern(tree, frame->module) : NULL;
	if (!node.text || (frame->module && !node.module) || grow(&tree->children, tree, node_hash))
		return 0;
	at = slot_of(&tree->children, key_hash(parent, node.text, node.kind));
	for (; tree->children.slots[at]; at = (at + 1) & (tree->children.capacity - 1)) {
		uint32_t number = tree->children.slots[at] - 1;
		const struct flame_node *found = &tree->nodes[number];

		if (found->parent == parent && found->text == node.text && found->kind == node.kind)
			return number;
	}
	node.next = tree->nodes[parent].callee;
	if (add_node(tree, node))
		return 0;
	tree->children.slots[at] = (uint32_t)tree->nr;
	tree->children.nr++;
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

int flame_tree__add(struct flame_tree *tree, const struct flame_frame *frames, size_t nr,
		    uint64_t weight)
{
	uint32_t at;

	if (find_leaf(tree, frames, nr, &at))
		return -ENOMEM;
	tree->nodes[at].self += weight;
	for (; at; at = tree->nodes[at].parent)
		tree->nodes[at].total += weight;
	tree->nodes[0].total += weight;
	return 0;
}

int flame_tree__add_before(struct flame_tree *tree, const struct flame_frame *frames, size_t nr,
			   uint64_t weight)
{
	uint32_t at;

	if (find_leaf(tree, frames, nr, &at))
		return -ENOMEM;
	tree->nodes[at].self_before += weight;
	for (; at; at = tree->nodes[at].parent)
		tree->nodes[at].total_before += weight;
	tree->nodes[0].total_before += weight;
	return 0;
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
	free(tree->children.slots);
	free(tree->texts.slots);
	free(tree->strings);
	arena__release(&tree->arena);
	*tree = (struct flame_tree){0};
}
