// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/maps.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/*
 * vm.max_map_count is 65,530 by default; large programs map some hundreds. A
 * path can be longer than PATH_MAX: directories can be nested without end.
 */
#define MAPPINGS_MAX	65536
#define TEXT_BYTES_MAX	((size_t)16 * 1024 * 1024)
#define PATHS_BYTES_MAX ((size_t)4 * 1024 * 1024)

/* "55d0c5a00000-55d0c5a21000 r-xp 00002000 fe:00 1835035   /usr/bin/cat" */
bool mapping__parse(char *line, struct mapping *mapping, char permissions[MAPPING_PERMISSIONS])
{
	unsigned int major_number, minor_number;
	uint64_t inode;
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &mapping->start, &mapping->end, permissions, &mapping->offset, &major_number,
		   &minor_number, &inode, &path) < 7 ||
	    path == 0 || strlen(permissions) != MAPPING_PERMISSIONS - 1)
		return false;
	mapping->device = makedev(major_number, minor_number);
	mapping->inode = inode;
	mapping->path = line + path;
	line[path + strcspn(mapping->path, "\n")] = '\0';
	return mapping->start < mapping->end;
}

static bool parse_executable(char *line, struct mapping *mapping)
{
	char permissions[MAPPING_PERMISSIONS];

	return mapping__parse(line, mapping, permissions) && permissions[2] == 'x';
}

/* Keep a path, once for the neighbours that share it; "" for one that is too long. */
static int keep_path(struct mapping_list *list, struct mapping *mapping, size_t *bytes)
{
	const struct mapping *previous = list->nr ? &list->mappings[list->nr - 1] : NULL;
	size_t length = strlen(mapping->path);

	if (previous && !strcmp(previous->path, mapping->path)) {
		mapping->path = previous->path;
		return 0;
	}
	if (length == 0 || length >= PATH_MAX || *bytes + length > PATHS_BYTES_MAX) {
		mapping->path = "";
		return 0;
	}
	*bytes += length;
	mapping->path = arena__copy_string(&list->paths, mapping->path, length);
	return mapping->path ? 0 : -ENOMEM;
}

/* Also in huge pages of MAP_HUGETLB, for which the kernel makes a file (hugetlb_file_setup()). */
static bool is_anonymous(const struct mapping *mapping)
{
	if (mapping->inode)
		return !strcmp(mapping->path, "/anon_hugepage (deleted)");
	return !mapping->path[0] || !strncmp(mapping->path, "[anon:", strlen("[anon:"));
}

/*
 * A program can copy its text to huge pages, as node does with --use-largepages: anonymous memory
 * that exactly fills the hole between two parts of one file is the part that was there.
 */
static void fill_hole(struct mapping *hole, const struct mapping *before,
		      const struct mapping *after)
{
	if (!is_anonymous(hole) || before->end != hole->start || hole->end != after->start ||
	    !before->inode || before->inode != after->inode || before->device != after->device ||
	    after->offset - before->offset != after->start - before->start)
		return;
	hole->offset = before->offset + (hole->start - before->start);
	hole->device = before->device;
	hole->inode = before->inode;
	hole->path = before->path;
}

int mapping_list__read(struct mapping_list *list, FILE *file)
{
	CLEANUP(mapping_list__release) struct mapping_list found = {0};
	CLEANUP_FREE char *line = NULL;
	size_t capacity = 0, size = 0, text_bytes = 0, paths_bytes = 0;
	uint64_t previous_end = 0;
	ssize_t length = 0;

	while (found.nr < MAPPINGS_MAX && text_bytes < TEXT_BYTES_MAX &&
	       (length = getline(&line, &size, file)) >= 0) {
		struct mapping mapping;

		text_bytes += (size_t)length;
		if (!parse_executable(line, &mapping) || mapping.start < previous_end)
			continue;
		previous_end = mapping.end;
		if (ARRAY_GROW(found.mappings, found.nr, capacity) ||
		    keep_path(&found, &mapping, &paths_bytes))
			return -ENOMEM;
		found.mappings[found.nr++] = mapping;
	}
	/* The process has ended while it was read. */
	if (length < 0 && ferror(file))
		return -ESRCH;
	for (size_t i = 1; i + 1 < found.nr; i++)
		fill_hole(&found.mappings[i], &found.mappings[i - 1], &found.mappings[i + 1]);
	*list = found;
	found = (struct mapping_list){0};
	return 0;
}

void mapping_list__release(struct mapping_list *list)
{
	arena__release(&list->paths);
	free(list->mappings);
	*list = (struct mapping_list){0};
}

const struct mapping *mapping_list__find(const struct mapping_list *list, uint64_t address)
{
	size_t low = 0, high = list->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct mapping *mapping = &list->mappings[middle];

		if (address < mapping->start)
			high = middle;
		else if (address >= mapping->end)
			low = middle + 1;
		else
			return mapping;
	}
	return NULL;
}
