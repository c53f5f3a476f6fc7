// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/image.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sym/process/maps.h"
#include "sym/types.h"

/* Those that are kept: *nr becomes how many. */
static const struct sym_mapping *last_mappings(const struct sym_image *image, size_t *nr)
{
	*nr = image->nr < IMAGE_MAPPINGS_MAX ? image->nr : IMAGE_MAPPINGS_MAX;
	return image->mappings + (image->nr - *nr);
}

/*
 * As /proc/PID/maps would have it: perf_event_open(2) has names, "//anon" and "//toolong"
 * for two, where there is no path, or none that it could tell.
 */
static const char *path_of(const struct sym_mapping *mapping)
{
	const char *path = mapping->path;

	if (!path || !strncmp(path, "//", 2) || strnlen(path, PATH_MAX) == PATH_MAX)
		return "";
	return path;
}

struct image *image__copy(const struct sym_image *original, uint64_t version, size_t *bytes)
{
	size_t nr, size;
	const struct sym_mapping *from = last_mappings(original, &nr);
	struct mapping *mappings;
	struct image *image;
	char *paths;

	size = sizeof(*image) + nr * sizeof(*mappings);
	for (size_t i = 0; i < nr; i++)
		size += strlen(path_of(&from[i])) + 1;
	image = malloc(size);
	if (!image)
		return NULL;
	mappings = (struct mapping *)(image + 1);
	paths = (char *)(mappings + nr);
	for (size_t i = 0; i < nr; i++) {
		mappings[i] = (struct mapping){.start = from[i].start,
					       .end = from[i].end,
					       .offset = from[i].offset,
					       .device = from[i].device,
					       .inode = from[i].inode,
					       .modified = from[i].modified,
					       .path = paths};
		paths = stpcpy(paths, path_of(&from[i])) + 1;
	}
	*image = (struct image){.version = version,
				.parent = original->parent,
				.whole = original->whole,
				.mappings = mappings,
				.nr = nr};
	*bytes = size;
	return image;
}

bool image__is_copy(const struct image *image, const struct sym_image *original)
{
	size_t nr;
	const struct sym_mapping *of = last_mappings(original, &nr);

	if (image->parent != original->parent || image->whole != original->whole || image->nr != nr)
		return false;
	for (size_t i = 0; i < nr; i++) {
		const struct mapping *mapping = &image->mappings[i];

		if (mapping->start != of[i].start || mapping->end != of[i].end ||
		    mapping->offset != of[i].offset || mapping->device != of[i].device ||
		    mapping->inode != of[i].inode || mapping->modified != of[i].modified ||
		    strcmp(mapping->path, path_of(&of[i])))
			return false;
	}
	return true;
}
