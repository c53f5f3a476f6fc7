// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/flame/flame_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

/* Words behind each other: "main;work"; one with a "!" in front is of the kernel. */
static void add(struct flame_tree *tree, const char *words, uint64_t weight)
{
	struct flame_frame frames[16];
	char *copy = strdup(words);
	size_t nr = 0;

	for (char *word = strtok(copy, ";"); word; word = strtok(NULL, ";")) {
		bool kernel = word[0] == '!';

		frames[nr++] = (struct flame_frame){.text = word + kernel,
						    .module = kernel ? "kernel" : NULL,
						    .kind = kernel ? FLAME_KERNEL : FLAME_USER};
	}
	CHECK_INT(flame_tree__add(tree, frames, nr, weight), 0);
	free(copy);
}

/* The nodes in order: "DEPTH TEXT TOTAL SELF", one behind the other. */
static const char *in_order(const struct flame_tree *tree)
{
	static char text[1024];
	uint32_t number = 0;

	text[0] = '\0';
	do {
		const struct flame_node *node = &tree->nodes[number];

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u %s %u %u",
			 number ? ", " : "", node->depth, node->text, (unsigned int)node->total,
			 (unsigned int)node->self);
		number = flame_tree__next(tree, number);
	} while (number);
	return text;
}

static void merged(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};

	add(&tree, "main;work;!read", 3);
	add(&tree, "main;work", 2);
	add(&tree, "main;idle", 1);
	add(&tree, "_start;main", 4);
	add(&tree, "main;work;read", 5);
	CHECK_INT(flame_tree__sort(&tree), 0);
	CHECK_STR(in_order(&tree), "0 all 15 0, 1 _start 4 0, 2 main 4 4, 1 main 11 0, 2 idle 1 1, "
				   "2 work 10 2, 3 read 5 5, 3 read 3 3");
}

static void empty(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};

	add(&tree, "", 0);
	CHECK_INT(flame_tree__sort(&tree), 0);
	CHECK_STR(in_order(&tree), "0 all 0 0");
	add(&tree, "", 7);
	CHECK_STR(in_order(&tree), "0 all 7 7");
}

static void recursive(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};

	add(&tree, "f;f;f", 1);
	add(&tree, "f;f", 1);
	CHECK_INT(flame_tree__sort(&tree), 0);
	CHECK_STR(in_order(&tree), "0 all 2 0, 1 f 2 0, 2 f 2 1, 3 f 1 1");
}

static void many(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	uint64_t total = 0;
	size_t nr = 0;

	for (int i = 0; i < 20000; i++) {
		char words[64];

		snprintf(words, sizeof(words), "f%d;g%d;h%d", i % 10, i % 100, i);
		add(&tree, words, 1);
	}
	CHECK_INT(flame_tree__sort(&tree), 0);
	CHECK_INT(tree.nr, 1 + 10 + 100 + 20000);
	CHECK_INT(tree.texts.nr, 10 + 100 + 20000);
	for (uint32_t number = flame_tree__next(&tree, 0); number;
	     number = flame_tree__next(&tree, number)) {
		nr++;
		total += tree.nodes[number].self;
	}
	CHECK_INT(nr, tree.nr - 1);
	CHECK_INT(total, 20000);
	/* Only the first level. */
	nr = 0;
	for (uint32_t number = flame_tree__next(&tree, 0); number;
	     number = flame_tree__skip(&tree, number))
		nr++;
	CHECK_INT(nr, 10);
}

static void compared(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	const struct flame_frame frames[] = {{.text = "main", .kind = FLAME_USER},
					     {.text = "gone", .kind = FLAME_USER}};

	add(&tree, "main;work", 2);
	CHECK_INT(flame_tree__add_before(&tree, frames, 2, 5), 0);
	CHECK_INT(flame_tree__add_before(&tree, frames, 1, 3), 0);
	CHECK_INT(flame_tree__sort(&tree), 0);
	CHECK_STR(in_order(&tree), "0 all 2 0, 1 main 2 0, 2 gone 0 0, 2 work 2 2");
	for (size_t i = 0; i < tree.nr; i++) {
		tree.nodes[i].total = tree.nodes[i].total_before;
		tree.nodes[i].self = tree.nodes[i].self_before;
	}
	CHECK_STR(in_order(&tree), "0 all 8 0, 1 main 8 3, 2 gone 5 5, 2 work 0 0");
}

static void by_name(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {.by_name = true};

	add(&tree, "main;read", 5);
	add(&tree, "main;!read", 3);
	add(&tree, "!main;read", 1);
	CHECK_INT(flame_tree__sort(&tree), 0);
	CHECK_STR(in_order(&tree), "0 all 9 0, 1 main 9 0, 2 read 9 9");
	CHECK_INT(tree.nodes[1].kind, FLAME_KERNEL);
	CHECK_INT(tree.nodes[2].kind, FLAME_KERNEL);
	CHECK_STR(tree.nodes[2].module, "kernel");
}

static const struct tap_test tests[] = {
	{"stacks are merged from their roots, in the order of names", merged},
	{"no stacks, and one without frames", empty},
	{"a function that calls itself", recursive},
	{"20,000 stacks", many},
	{"an earlier run in the same tree", compared},
	{"frames of the same name are one, whatever their kinds", by_name},
};

int main(void)
{
	return TAP_RUN(tests);
}
