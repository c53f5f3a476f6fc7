// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Input: the lines; an "!" as the first byte makes them those of the earlier run. Whatever they
 * are, the weights of the tree agree, and names are safe to print.
 */
#include <stdlib.h>
#include <string.h>

#include "core/flame/flame_tree.h"
#include "core/flame/folded_lines.h"
#include "sym/util/text.h"
#include "test/fuzz/fuzz.h"

static void require_clean(const char *text)
{
	for (size_t at = 0, length = strlen(text); at < length;) {
		uint32_t code = 0;
		size_t step = text__character(text + at, length - at, &code);

		REQUIRE(step && !text__is_control(code));
		at += step;
	}
}

/* A node weighs what ends in it and what its callees weigh. */
static void require_sums(const struct flame_tree *tree)
{
	uint64_t *rest = calloc(tree->nr + 1, sizeof(*rest));

	REQUIRE(rest);
	for (size_t i = 0; i < tree->nr; i++)
		rest[i] = tree->nodes[i].total + tree->nodes[i].total_before - tree->nodes[i].self -
			  tree->nodes[i].self_before;
	for (size_t i = 1; i < tree->nr; i++)
		rest[tree->nodes[i].parent] -= tree->nodes[i].total + tree->nodes[i].total_before;
	for (size_t i = 0; i < tree->nr; i++)
		REQUIRE(rest[i] == 0);
	free(rest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct folded_lines lines = {0};
	struct flame_tree tree = {0};
	bool before = size > 0 && data[0] == '!';
	FILE *in = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;

	if (!in)
		return 0;
	REQUIRE(folded_lines__read(&lines, in, &tree, before) == 0);
	fclose(in);
	REQUIRE((lines.stacks > 0) == (tree.nr > 0));
	for (size_t i = 0; i < tree.nr; i++)
		require_clean(tree.nodes[i].text);
	require_sums(&tree);
	flame_tree__release(&tree);
	return 0;
}
