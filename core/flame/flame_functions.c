// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/flame/flame_functions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/flame/flame_picture.h"
#include "core/flame/flame_tree.h"
#include "sym/util/array.h"

void flame_functions__release(struct flame_functions *functions)
{
	free(functions->items);
	pointer_map__release(&functions->numbers);
}

/* NULL: out of memory. */
static struct flame_function *function_of(struct flame_functions *functions, const char *text)
{
	uintptr_t *number = pointer_map__at(&functions->numbers, text);

	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(functions->items, functions->nr, functions->capacity))
			return NULL;
		functions->items[functions->nr++] = (struct flame_function){.text = text};
		*number = functions->nr;
	}
	return &functions->items[*number - 1];
}

static bool is_function(const struct flame_node *node)
{
	return node->kind != FLAME_PROCESS && node->kind != FLAME_MARK;
}

/* A stack counts once for a function, however often that has called itself. */
static int enter(struct flame_functions *functions, const struct flame_node *node)
{
	struct flame_function *function = function_of(functions, node->text);

	if (!function)
		return -ENOMEM;
	function->self += node->self;
	function->self_before += node->self_before;
	if (function->open++ == 0) {
		function->total += node->total;
		function->total_before += node->total_before;
	}
	return 0;
}

static int count(struct flame_functions *functions, const struct flame_tree *tree)
{
	uint32_t number = 0, next;

	do {
		const struct flame_node *node = &tree->nodes[number];

		if (is_function(node) && enter(functions, node))
			return -ENOMEM;
		next = flame_tree__next(tree, number);
		/* Leave it, and all callers that end with it. */
		for (uint32_t up = number; up != (next ? tree->nodes[next].parent : 0);
		     up = tree->nodes[up].parent)
			if (is_function(&tree->nodes[up]))
				function_of(functions, tree->nodes[up].text)->open--;
		number = next;
	} while (number);
	return 0;
}

static int64_t change(uint64_t now, uint64_t before)
{
	return (int64_t)(now - before);
}

static uint64_t changed(uint64_t now, uint64_t before)
{
	return now > before ? now - before : before - now;
}

static int compare_pairs(uint64_t a, uint64_t b, uint64_t next_a, uint64_t next_b)
{
	return a != b ? COMPARE(b, a) : COMPARE(next_b, next_a);
}

static int compare_selves(const void *left, const void *right)
{
	const struct flame_function *a = left, *b = right;
	int order = compare_pairs(a->self, b->self, a->total, b->total);

	return order ? order : strcmp(a->text, b->text);
}

static int compare_totals(const void *left, const void *right)
{
	const struct flame_function *a = left, *b = right;
	int order = compare_pairs(a->total, b->total, a->self, b->self);

	return order ? order : strcmp(a->text, b->text);
}

static int compare_changed_selves(const void *left, const void *right)
{
	const struct flame_function *a = left, *b = right;
	int order = compare_pairs(
		changed(a->self, a->self_before), changed(b->self, b->self_before),
		changed(a->total, a->total_before), changed(b->total, b->total_before));

	return order ? order : compare_selves(left, right);
}

static int compare_changed_totals(const void *left, const void *right)
{
	const struct flame_function *a = left, *b = right;
	int order = compare_pairs(
		changed(a->total, a->total_before), changed(b->total, b->total_before),
		changed(a->self, a->self_before), changed(b->self, b->self_before));

	return order ? order : compare_totals(left, right);
}

int flame_functions__count(struct flame_functions *functions, const struct flame_picture *picture,
			   enum flame_order order)
{
	static int (*const comparators[][2])(const void *, const void *) = {
		[FLAME_BY_SELF] = {compare_selves, compare_changed_selves},
		[FLAME_BY_TOTAL] = {compare_totals, compare_changed_totals},
	};
	int err = count(functions, picture->tree);

	if (err)
		return err;
	for (size_t i = 0; i < functions->nr; i++) {
		struct flame_function *function = &functions->items[i];

		function->self_before = flame_picture__scale(picture, function->self_before);
		function->total_before = flame_picture__scale(picture, function->total_before);
	}
	array__sort(functions->items, functions->nr, sizeof(*functions->items),
		    comparators[order][picture->scale > 0]);
	return 0;
}

void flame_functions__print(FILE *out, const struct flame_functions *functions, uint64_t nr,
			    const struct flame_picture *picture)
{
	const struct flame_node *all = &picture->tree->nodes[0];

	if (picture->scale > 0)
		fprintf(out, "%12s %12s %12s %12s  function (%s)\n", "self before", "self",
			"change", "total change", picture->unit);
	else
		fprintf(out, "%12s %7s %12s %7s  function (%s)\n", "self", "%", "total", "%",
			picture->unit);
	for (size_t i = 0; i < functions->nr && i < nr; i++) {
		const struct flame_function *function = &functions->items[i];

		if (picture->scale > 0)
			fprintf(out,
				"%12" PRIu64 " %12" PRIu64 " %+12" PRId64 " %+12" PRId64 "  %s\n",
				function->self_before, function->self,
				change(function->self, function->self_before),
				change(function->total, function->total_before), function->text);
		else
			fprintf(out, "%12" PRIu64 " %7.2f %12" PRIu64 " %7.2f  %s\n",
				function->self, flame_picture__percent(function->self, all->total),
				function->total,
				flame_picture__percent(function->total, all->total),
				function->text);
	}
}
