// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"

void unwind_files__release(struct unwind_files *files)
{
	free(files->items);
	*files = (struct unwind_files){0};
}

static size_t bucket_of(const struct mapped_file *file)
{
	uint64_t hash = (file->inode * 31 + file->device) * 31 + file->ctime_nsec;

	return (hash * 0x9e3779b97f4a7c15 >> 32) % UNWIND_FILE_BUCKETS;
}

const struct unwind_known_file *unwind_files__find(const struct unwind_files *files,
						   const struct mapped_file *file)
{
	for (uint32_t i = files->buckets[bucket_of(file)]; i; i = files->items[i - 1].next)
		if (!memcmp(&files->items[i - 1].mapped.file, file, sizeof(*file)))
			return &files->items[i - 1];
	return NULL;
}

/* There is one. */
static uint32_t new_index(struct unwind_files *files)
{
	uint32_t index = files->removed ? files->removed - 1 : (uint32_t)files->nr++;

	if (files->removed)
		files->removed = files->items[index].next;
	return index;
}

int unwind_files__add(struct unwind_files *files, const struct mapped_file *file, uint32_t *index)
{
	const struct unwind_known_file *known = unwind_files__find(files, file);
	uint32_t *bucket = &files->buckets[bucket_of(file)];

	if (known) {
		*index = (uint32_t)(known - files->items);
		return 0;
	}
	if (!files->removed && files->nr == UNWIND_FILES)
		return -ENOSPC;
	if (!files->removed && ARRAY_GROW(files->items, files->nr, files->capacity))
		return -ENOMEM;
	*index = new_index(files);
	files->items[*index] = (struct unwind_known_file){
		.mapped.file = *file,
		.module = UNWIND_UNKNOWN_MODULE,
		.next = *bucket,
	};
	*bucket = *index + 1;
	return 0;
}

uint32_t unwind_files__with_module(const struct unwind_files *files, uint32_t module)
{
	return files->of_module[module] ? files->of_module[module] - 1 : UNWIND_FILE_NONE;
}

void unwind_files__set_module(struct unwind_files *files, uint32_t index, uint32_t module)
{
	files->items[index].module = module;
	if (module < UNWIND_MODULES)
		files->of_module[module] = index + 1;
}

void unwind_files__remove(struct unwind_files *files, uint32_t index)
{
	struct unwind_known_file *file = &files->items[index];
	uint32_t *next = &files->buckets[bucket_of(&file->mapped.file)];

	while (*next != index + 1)
		next = &files->items[*next - 1].next;
	*next = file->next;
	if (file->module < UNWIND_MODULES)
		files->of_module[file->module] = 0;
	*file = (struct unwind_known_file){.module = UNWIND_NO_MODULE, .next = files->removed};
	files->removed = index + 1;
}
