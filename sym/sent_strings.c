// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/sent_strings.h"

#include <stdlib.h>

#define FIRST_CAPACITY 256

static struct sent_string *slot_of(const struct sent_strings *strings, const char *text)
{
	uint64_t hash = (uintptr_t)text * 0x9e3779b97f4a7c15;
	size_t i = hash >> 32 & (strings->capacity - 1);

	while (strings->slots[i].text && strings->slots[i].text != text)
		i = (i + 1) & (strings->capacity - 1);
	return &strings->slots[i];
}

static bool grow(struct sent_strings *strings)
{
	struct sent_strings larger = {
		.nr = strings->nr,
		.capacity = strings->capacity ? strings->capacity * 2 : FIRST_CAPACITY,
	};

	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < strings->capacity; i++)
		if (strings->slots[i].text)
			*slot_of(&larger, strings->slots[i].text) = strings->slots[i];
	free(strings->slots);
	*strings = larger;
	return true;
}

uint32_t sent_strings__number(struct sent_strings *strings, const char *text, bool *is_new)
{
	struct sent_string *slot;

	/* At most half of it is used. */
	if (strings->nr >= strings->capacity / 2 && !grow(strings))
		return 0;
	slot = slot_of(strings, text);
	*is_new = !slot->text;
	if (*is_new)
		*slot = (struct sent_string){.text = text, .number = (uint32_t)++strings->nr};
	return slot->number;
}

void sent_strings__clear(struct sent_strings *strings)
{
	free(strings->slots);
	*strings = (struct sent_strings){0};
}
