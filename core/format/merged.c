// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/merged.h"

#include <errno.h>
#include <stdlib.h>

#include "core/format/format.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

void merged_stacks__release(struct merged_stacks *merged)
{
	text_set__release(&merged->texts);
	free(merged->items);
}

static int add(struct merged_stacks *merged, const char *text, const struct counted_stack *item)
{
	uint32_t number;

	if (text_set__add(&merged->texts, text, &number))
		return -ENOMEM;
	merged->items[number].text = number;
	merged->items[number].sum.count += item->count;
	merged->items[number].sum.weight += item->weight;
	return 0;
}

static int compare_merged(const void *left, const void *right)
{
	const struct merged_stack *a = left, *b = right;
	int order = COMPARE(a->sum.weight, b->sum.weight);

	if (!order)
		order = COMPARE(a->sum.count, b->sum.count);
	return order ? order : COMPARE(a->text, b->text);
}

int merged_stacks__make(struct merged_stacks *merged, const struct shown_stacks *shown,
			void (*print)(FILE *out, const struct shown_stacks *shown,
				      const struct counted_stack *item))
{
	size_t nr = shown->counts->nr;

	merged->items = calloc(nr + 1, sizeof(*merged->items));
	if (!merged->items)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		CLEANUP_FREE char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		if (!out)
			return -ENOMEM;
		print(out, shown, &shown->counts->items[i]);
		if (fclose(out) || add(merged, text, &shown->counts->items[i]))
			return -ENOMEM;
	}
	array__sort(merged->items, merged->texts.nr, sizeof(*merged->items), compare_merged);
	return 0;
}
