// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/pointer_map.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CAPACITY 256

static struct pointer_map_slot *slot_of(const struct pointer_map *map, const void *key)
{
	uint64_t hash = (uintptr_t)key * 0x9e3779b97f4a7c15;
	size_t i = hash >> 32 & (map->capacity - 1);

	while (map->slots[i].key && map->slots[i].key != key)
		i = (i + 1) & (map->capacity - 1);
	return &map->slots[i];
}

static int grow(struct pointer_map *map)
{
	struct pointer_map larger = {
		.nr = map->nr,
		.capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY,
	};

	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->slots[i].key)
			*slot_of(&larger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = larger;
	return 0;
}

uintptr_t *pointer_map__at(struct pointer_map *map, const void *key)
{
	struct pointer_map_slot *slot;

	/* At most half of it is used. */
	if (map->nr >= map->capacity / 2 && grow(map))
		return NULL;
	slot = slot_of(map, key);
	if (!slot->key) {
		*slot = (struct pointer_map_slot){.key = key};
		map->nr++;
	}
	return &slot->value;
}

void pointer_map__release(struct pointer_map *map)
{
	free(map->slots);
	*map = (struct pointer_map){0};
}
