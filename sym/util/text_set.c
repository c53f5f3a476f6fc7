// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/text_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"
#include "sym/util/text.h"

/* The slot of text, or the free one where it belongs. */
static size_t slot_of(const struct text_set *set, const char *text)
{
	uint64_t hash = text__hash(text);
	size_t at = (hash ^ hash >> 29) & (set->nr_slots - 1);

	while (set->slots[at] && strcmp(set->texts[set->slots[at] - 1], text) != 0)
		at = (at + 1) & (set->nr_slots - 1);
	return at;
}

/* Half of the slots stay free. */
static int grow(struct text_set *set)
{
	size_t nr = set->nr_slots ? 2 * set->nr_slots : 64;
	uint32_t *slots;

	if (set->nr < set->nr_slots / 2)
		return 0;
	slots = calloc(nr, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(set->slots);
	set->slots = slots;
	set->nr_slots = nr;
	for (size_t i = 0; i < set->nr; i++)
		set->slots[slot_of(set, set->texts[i])] = (uint32_t)i + 1;
	return 0;
}

int text_set__add(struct text_set *set, const char *text, uint32_t *number)
{
	const char *copy;
	size_t at;

	if (grow(set))
		return -ENOMEM;
	at = slot_of(set, text);
	if (!set->slots[at]) {
		copy = arena__copy_string(&set->arena, text, strlen(text));
		if (!copy || ARRAY_GROW(set->texts, set->nr, set->capacity))
			return -ENOMEM;
		set->texts[set->nr++] = copy;
		set->slots[at] = (uint32_t)set->nr;
	}
	*number = set->slots[at] - 1;
	return 0;
}

void text_set__release(struct text_set *set)
{
	free(set->texts);
	free(set->slots);
	arena__release(&set->arena);
	*set = (struct text_set){0};
}
