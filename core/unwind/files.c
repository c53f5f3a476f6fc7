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

static uint32_t *bucket_of(struct unwind_files *files, const struct mapped_file *file)
{
	uint64_t hash = (file->inode * 31 + file->device) * 31 + file->ctime_nsec;

	return &files->buckets[(hash * 0x9e3779b97f4a7c15 >> 32) % UNWIND_FILE_BUCKETS];
}

int unwind_files__add(struct unwind_files *files, const struct mapped_file *file, uint32_t *index)
{
	uint32_t *bucket = bucket_of(files, file);

	for (uint32_t i = *bucket; i; i = files->items[i - 1].next) {
		if (memcmp(&files->items[i - 1].mapped.file, file, sizeof(*file)) != 0)
			continue;
		*index = i - 1;
		return 0;
	}
	if (files->nr == UNWIND_FILES)
		return -ENOSPC;
	if (ARRAY_GROW(files->items, files->nr, files->capacity))
		return -ENOMEM;
	*index = (uint32_t)files->nr;
	files->items[files->nr++] = (struct unwind_known_file){
		.mapped.file = *file,
		.module = UNWIND_UNKNOWN_MODULE,
		.state = UNWIND_MODULE_WANTED,
		.next = *bucket,
	};
	*bucket = *index + 1;
	return 0;
}

uint32_t unwind_files__with_module(const struct unwind_files *files, uint32_t module)
{
	for (uint32_t i = 0; i < files->nr; i++)
		if (files->items[i].module == module)
			return i;
	return UNWIND_FILE_NONE;
}
