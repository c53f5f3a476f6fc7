// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/filter.h"

#include "core/flame/flame_tree.h"
#include "core/input/reading.h"
#include "core/probe/pattern.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "test/unit/read_stacks.h"
#include "test/unit/tap.h"

static void stacks(void)
{
	static const struct {
		const char *focus, *ignore, *stacks;
		uint64_t unfocused, ignored;
	} cases[] = {
		{"work", NULL, "1 main u 0, 2 work u 1, 3 malloc u 2", 12, 0},
		{"^(work|idle)$", NULL, "1 main u 0, 2 idle u 4, 2 work u 1, 3 malloc u 2", 8, 0},
		{NULL, "malloc", "1 main u 0, 2 idle u 4, 2 work u 1", 0, 10},
		{"work", "malloc", "1 main u 0, 2 work u 1", 12, 2},
		{"none", "malloc", "", 15, 0},
		{NULL, "none",
		 "1 main u 0, 2 idle u 4, 2 work u 1, 3 malloc u 2, 1 start u 0, "
		 "2 malloc u 8",
		 0, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(flame_tree__release) struct flame_tree tree = {0};
		CLEANUP(pattern__freep) struct pattern *focus = NULL;
		CLEANUP(pattern__freep) struct pattern *ignore = NULL;
		CLEANUP(stack_filter__release) struct stack_filter filter = {0};
		struct reading reading = {.tree = &tree, .filter = &filter};
		const char *text = "main;work 1\nmain;work;malloc 2\nmain;idle 4\n"
				   "start;malloc 8\n";
		struct error error;

		if (cases[i].focus)
			CHECK_INT(pattern__new(&focus, cases[i].focus, true, &error), 0);
		if (cases[i].ignore)
			CHECK_INT(pattern__new(&ignore, cases[i].ignore, true, &error), 0);
		filter.focus = focus;
		filter.ignore = ignore;
		read_bytes(&reading, text, strlen(text));
		CHECK_STR(in_order(&tree), cases[i].stacks);
		CHECK_INT(filter.unfocused, cases[i].unfocused);
		CHECK_INT(filter.ignored, cases[i].ignored);
		CHECK_INT(reading.stacks, 4);
		CHECK_INT(reading.sum, 15);
	}
}

static const struct tap_test tests[] = {
	{"stacks with a frame that matches, and without", stacks},
};

int main(void)
{
	return TAP_RUN(tests);
}
