// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)64 * 1024)

struct arena_block {
	struct arena_block *next;
	size_t used;
	size_t size;
	_Alignas(uint64_t) unsigned char bytes[];
};

void *arena__alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->blocks;
	void *piece;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
	if (!block || block->size - block->used < size) {
		size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;

		block = malloc(sizeof(*block) + room);
		if (!block)
			return NULL;
		*block = (struct arena_block){.next = arena->blocks, .size = room};
		arena->blocks = block;
	}
	piece = block->bytes + block->used;
	block->used += size;
	return piece;
}

char *arena__copy_string(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena__alloc(arena, length + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

void arena__release(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *block = arena->blocks;

		arena->blocks = block->next;
		free(block);
	}
}
