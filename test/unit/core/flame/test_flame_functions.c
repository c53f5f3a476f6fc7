// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/flame/flame_functions.h"

#include <stdlib.h>
#include <string.h>

#include "core/flame/flame_picture.h"
#include "core/flame/flame_tree.h"
#include "sym/util/cleanup.h"
#include "test/unit/read_stacks.h"
#include "test/unit/tap.h"

static void read_run(struct flame_tree *tree, const char *text, bool before)
{
	struct reading reading = {.tree = tree, .before = before};

	read_bytes(&reading, text, strlen(text));
}

/* The table, without its head. */
static char *table(const struct flame_picture *picture, enum flame_order order, uint64_t nr)
{
	CLEANUP(flame_functions__release) struct flame_functions functions = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK_INT(flame_functions__count(&functions, picture, order), 0);
	flame_functions__print(out, &functions, nr, picture);
	fclose(out);
	memmove(text, strchr(text, '\n') + 1, strlen(strchr(text, '\n')));
	return text;
}

static void one_run(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	const struct flame_picture picture = {.tree = &tree, .unit = "samples"};
	CLEANUP_FREE char *selves = NULL, *totals = NULL;

	/* f calls itself: each stack counts once for it. "-" is no function. */
	read_run(&tree, "f;g;f 3\nf;g 2\nf;f;f;- 4\nh 1\n", false);
	selves = table(&picture, FLAME_BY_SELF, 10);
	CHECK_STR(selves, "           3   30.00            9   90.00  f\n"
			  "           2   20.00            5   50.00  g\n"
			  "           1   10.00            1   10.00  h\n");
	totals = table(&picture, FLAME_BY_TOTAL, 1);
	CHECK_STR(totals, "           3   30.00            9   90.00  f\n");
}

static void two_runs(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	struct flame_picture picture = {.tree = &tree, .unit = "samples", .scale = 1};
	CLEANUP_FREE char *changes = NULL, *shares = NULL;

	read_run(&tree, "f;g 10\nf;h 5\nf;new 1\n", false);
	read_run(&tree, "f;g 2\nf;h 5\nf;gone 1\n", true);
	changes = table(&picture, FLAME_BY_SELF, 10);
	CHECK_STR(changes, "           2           10           +8           +8  g\n"
			   "           0            1           +1           +1  new\n"
			   "           1            0           -1           -1  gone\n"
			   "           0            0           +0           +8  f\n"
			   "           5            5           +0           +0  h\n");
	picture.scale = 2;
	shares = table(&picture, FLAME_BY_SELF, 2);
	CHECK_STR(shares, "           4           10           +6           +6  g\n"
			  "          10            5           -5           -5  h\n");
}

static const struct tap_test tests[] = {
	{"functions of all stacks, by self and by total", one_run},
	{"functions of two runs, by what has changed", two_runs},
};

int main(void)
{
	return TAP_RUN(tests);
}
