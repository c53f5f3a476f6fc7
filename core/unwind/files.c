// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"
#include "sym/util/text.h"

static void end_search(struct unwind_files *files, struct unwind_name *name)
{
	files->nr_sought -= name->sought != NULL;
	free(name->sought);
	name->sought = NULL;
}

static void forget_names(struct unwind_files *files)
{
	for (size_t i = 0; i < files->nr_names; i++)
		end_search(files, &files->names[i]);
	files->nr_names = 0;
	memset(files->buckets, 0, sizeof(files->buckets));
}

void unwind_files__release(struct unwind_files *files)
{
	forget_names(files);
	free(files->items);
	free(files->names);
	*files = (struct unwind_files){0};
}

bool unwind_files__is_full(const struct unwind_files *files)
{
	return files->nr >= UNWIND_FILES_MAX || files->nr_names >= UNWIND_NAMES_MAX;
}

void unwind_files__forget(struct unwind_files *files)
{
	size_t kept = 0;

	forget_names(files);
	for (size_t i = 0; i < files->nr; i++)
		if (files->items[i].module != UNWIND_UNKNOWN_MODULE)
			files->items[kept++] = files->items[i];
	files->nr = kept;
}

static uint32_t bucket_of(uint64_t device, uint64_t inode, uint64_t path)
{
	return (uint32_t)((device * 31 + inode * 0x9e3779b97f4a7c15 + path) >> 7) %
	       UNWIND_NAME_BUCKETS;
}

static struct unwind_name *find_name(const struct unwind_files *files, uint64_t device,
				     uint64_t inode, const char *whole_path)
{
	char shortened[UNWIND_PATH_MAX];
	uint64_t path;

	unwind_path__set(shortened, whole_path);
	path = text__hash(shortened);
	for (uint32_t i = files->buckets[bucket_of(device, inode, path)]; i;
	     i = files->names[i - 1].next) {
		struct unwind_name *name = &files->names[i - 1];

		if (name->device == device && name->inode == inode && name->path == path)
			return name;
	}
	return NULL;
}

static struct unwind_name *add_name(struct unwind_files *files, const struct unwind_mapped *mapped)
{
	uint64_t path = text__hash(mapped->path);
	uint32_t *bucket = &files->buckets[bucket_of(mapped->device, mapped->inode, path)];

	if (files->nr_names >= UNWIND_NAMES_MAX ||
	    ARRAY_GROW(files->names, files->nr_names, files->names_capacity))
		return NULL;
	files->names[files->nr_names] = (struct unwind_name){
		.device = mapped->device,
		.inode = mapped->inode,
		.path = path,
		.file = UNWIND_FILE_UNKNOWN,
		.next = *bucket,
	};
	*bucket = (uint32_t)++files->nr_names;
	return &files->names[files->nr_names - 1];
}

static bool is_same(const struct unwind_mapped *a, const struct unwind_mapped *b)
{
	return a->source == b->source && !memcmp(&a->identity, &b->identity, sizeof(a->identity));
}

static int find_or_add(struct unwind_files *files, const struct unwind_mapped *mapped,
		       uint32_t *file)
{
	for (*file = 0; *file < files->nr; (*file)++)
		if (is_same(&files->items[*file].mapped, mapped))
			return 0;
	if (files->nr >= UNWIND_FILES_MAX)
		return -ENOSPC;
	if (ARRAY_GROW(files->items, files->nr, files->capacity))
		return -ENOMEM;
	files->items[files->nr++] = (struct unwind_known_file){
		.mapped = *mapped,
		.module = UNWIND_UNKNOWN_MODULE,
		.state = mapped->source == UNWIND_SOURCE_OTHER ? UNWIND_MODULE_EMPTY :
								 UNWIND_MODULE_WANTED};
	return 0;
}

int unwind_files__found(struct unwind_files *files, const struct unwind_mapped *mapped,
			uint32_t *file)
{
	struct unwind_name *name;

	*file = mapped->inode ? UNWIND_FILE_UNKNOWN : UNWIND_FILE_NONE;
	if (mapped->source == UNWIND_SOURCE_NONE)
		return 0;
	name = find_name(files, mapped->device, mapped->inode, mapped->path);
	if (!name)
		name = add_name(files, mapped);
	if (!name)
		return unwind_files__is_full(files) ? -ENOSPC : -ENOMEM;
	end_search(files, name);
	if (name->file >= files->nr || !is_same(&files->items[name->file].mapped, mapped)) {
		int err = find_or_add(files, mapped, &name->file);

		if (err) {
			name->file = UNWIND_FILE_UNKNOWN;
			return err;
		}
	}
	*file = name->file;
	files->items[*file].mapped.watch = mapped->watch;
	return 0;
}

/* Without memory the file is found when somebody looks at its process. */
static void begin_search(struct unwind_files *files, struct unwind_name *name, uint64_t device,
			 uint64_t inode, uint32_t generation, const char *path)
{
	struct unwind_mapped mapped = {.device = device, .inode = inode};

	unwind_path__set(mapped.path, path);
	if (!name) {
		name = add_name(files, &mapped);
		if (!name)
			return;
	} else if (name->file == UNWIND_FILE_UNKNOWN && name->has_generation &&
		   name->generation == generation) {
		return; /* the search is on, or was in vain */
	}
	end_search(files, name);
	name->file = UNWIND_FILE_UNKNOWN;
	name->generation = generation;
	name->has_generation = true;
	name->sought = strdup(path);
	files->nr_sought += name->sought != NULL;
}

/*
 * True if a record means the file that was found under its name. As long as the file is watched,
 * its inode belongs to no other file, and so has one generation.
 */
static bool is_meant(const struct unwind_files *files, const struct unwind_name *name,
		     uint32_t generation)
{
	return name->file < files->nr && (!name->inode || files->items[name->file].mapped.watch) &&
	       (!name->has_generation || name->generation == generation);
}

uint32_t unwind_files__named(struct unwind_files *files, uint64_t device, uint64_t inode,
			     uint32_t generation, const char *path)
{
	struct unwind_name *name;

	if (!inode && strcmp(path, "[vdso]") != 0)
		return UNWIND_FILE_NONE;
	name = find_name(files, device, inode, path);
	if (name && is_meant(files, name, generation)) {
		name->generation = generation;
		name->has_generation = true;
		return name->file;
	}
	if (inode)
		begin_search(files, name, device, inode, generation, path);
	return UNWIND_FILE_UNKNOWN;
}

void unwind_files__changed(struct unwind_files *files, int watch)
{
	for (size_t i = 0; i < files->nr; i++)
		if (!watch || files->items[i].mapped.watch == watch)
			files->items[i].mapped.watch = 0;
}

static void seek(struct unwind_files *files, size_t number, struct avoided_devices *avoided,
		 int watches)
{
	const struct unwind_name *name = &files->names[number];
	struct unwind_mapped mapped = {.device = name->device, .inode = name->inode};
	uint32_t file;

	unwind_path__set(mapped.path, name->sought);
	/* Without room the file is found when somebody looks at its process. */
	if (unwind_reader__identify(&mapped, avoided, watches) == 0)
		(void)unwind_files__found(files, &mapped, &file);
	end_search(files, &files->names[number]);
}

void unwind_files__seek(struct unwind_files *files, struct avoided_devices *avoided, int watches)
{
	for (size_t i = 0; i < files->nr_names && files->nr_sought; i++)
		if (files->names[i].sought)
			seek(files, i, avoided, watches);
}
