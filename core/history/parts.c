// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/history/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/history/history.h"
#include "core/history/records.h"
#include "sym/util/array.h"

int process_parts__init(struct process_parts *parts)
{
	parts->nr = 1;
	return getrandom(parts->seed, sizeof(parts->seed), 0) == sizeof(parts->seed) ? 0 : -errno;
}

void process_parts__release(struct process_parts *parts)
{
	free(parts->items);
}

/* ---- files ---- */

/*
 * With one more word. The factor is as random as the start: who knows neither cannot tell which
 * words lead to the same. Both halves of the product, as in Wang's "wyhash".
 */
static uint64_t mix(const struct process_parts *parts, uint64_t hash, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word) * (parts->seed[1] | 1);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static struct process_file **file_bucket(struct process_parts *parts, dev_t device, ino_t inode,
					 uint64_t generation, const char *path)
{
	uint64_t hash =
		mix(parts, mix(parts, mix(parts, parts->seed[0], device), inode), generation);
	size_t left = strlen(path), some;

	for (; left; path += some, left -= some) {
		uint64_t word = 0;

		some = left < sizeof(word) ? left : sizeof(word);
		memcpy(&word, path, some);
		hash = mix(parts, hash, word);
	}
	return &parts->files[hash & (PROCESS_BUCKETS - 1)];
}

/* NULL without memory. */
static struct process_file *find_or_add_file(struct process_parts *parts,
					     const struct process_record *mapped)
{
	const struct sym_mapping *mapping = &mapped->mapping;
	struct process_file **bucket = file_bucket(parts, mapping->device, mapping->inode,
						   mapped->generation, mapping->path);
	size_t length = strlen(mapping->path) + 1, bytes = sizeof(struct process_file) + length;
	struct process_file *file = *bucket;

	while (file &&
	       (file->inode != mapping->inode || file->device != mapping->device ||
		file->generation != mapped->generation || strcmp(file->path, mapping->path)))
		file = file->next;
	if (file)
		return file;
	file = malloc(bytes);
	if (!file)
		return NULL;
	*file = (struct process_file){.next = *bucket,
				      .device = mapping->device,
				      .inode = mapping->inode,
				      .generation = mapped->generation,
				      .bytes = bytes};
	memcpy(file->path, mapping->path, length);
	*bucket = file;
	parts->bytes += bytes;
	return file;
}

/* It goes if no part has it. */
static void trim_file(struct process_parts *parts, struct process_file *file)
{
	struct process_file **link;

	if (file->users)
		return;
	link = file_bucket(parts, file->device, file->inode, file->generation, file->path);
	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	parts->bytes -= file->bytes;
	free(file);
}

/* ---- parts of files ---- */

static uint32_t *part_bucket(struct process_parts *parts, const struct process_file *file,
			     uint64_t offset, uint64_t length)
{
	uint64_t hash =
		mix(parts, mix(parts, mix(parts, parts->seed[0], (uintptr_t)file), offset), length);

	return &parts->buckets[hash & (PROCESS_BUCKETS - 1)];
}

/* A slot for a new part; 0 without one. */
static uint32_t take_slot(struct process_parts *parts)
{
	uint32_t slot = parts->free;

	if (slot) {
		parts->free = parts->items[slot].next;
		return slot;
	}
	if (parts->nr == PROCESS_PARTS_MAX || ARRAY_GROW(parts->items, parts->nr, parts->capacity))
		return 0;
	return parts->nr++;
}

static uint32_t find_part(struct process_parts *parts, const struct process_file *file,
			  uint64_t offset, uint64_t length)
{
	uint32_t found = *part_bucket(parts, file, offset, length);

	while (found && (parts->items[found].file != file || parts->items[found].offset != offset ||
			 parts->items[found].length != length))
		found = parts->items[found].next;
	return found;
}

uint32_t process_parts__find_or_add(struct process_parts *parts,
				    const struct process_record *mapped, bool *added)
{
	const struct sym_mapping *mapping = &mapped->mapping;
	struct process_file *file = find_or_add_file(parts, mapped);
	uint64_t length = mapping->end - mapping->start;
	uint32_t *bucket, found;

	*added = false;
	if (!file)
		return 0;
	found = find_part(parts, file, mapping->offset, length);
	if (found)
		return found;
	found = take_slot(parts);
	if (!found) {
		trim_file(parts, file);
		return 0;
	}
	bucket = part_bucket(parts, file, mapping->offset, length);
	parts->items[found] = (struct process_part){.offset = mapping->offset,
						    .length = length,
						    .file = file,
						    .start = mapping->start,
						    .pid = mapped->pid,
						    .next = *bucket};
	*bucket = found;
	file->users++;
	parts->bytes += sizeof(struct process_part);
	*added = true;
	return found;
}

void process_parts__put(struct process_parts *parts, uint32_t number)
{
	struct process_part *part = &parts->items[number];
	uint32_t *link;

	if (part->users && --part->users)
		return;
	for (link = part_bucket(parts, part->file, part->offset, part->length); *link != number;)
		link = &parts->items[*link].next;
	*link = part->next;
	parts->bytes -= sizeof(*part);
	part->file->users--;
	trim_file(parts, part->file);
	*part = (struct process_part){.next = parts->free};
	parts->free = number;
}
