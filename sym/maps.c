// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/util/array.h"
#include "core/util/cleanup.h"

/* vm.max_map_count is 65,530 by default; large programs map some hundreds. */
#define MAPPINGS_MAX 65536

/*
 * "55d0c5a00000-55d0c5a21000 r-xp 00002000 fe:00 1835035   /usr/bin/cat"
 * Returns whether line is an executable mapping; its path lies in line.
 */
static bool parse_line(char *line, struct mapping *mapping)
{
	unsigned int major_number, minor_number;
	char permissions[5];
	uint64_t inode;
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &mapping->start, &mapping->end, permissions, &mapping->offset, &major_number,
		   &minor_number, &inode, &path) < 7 ||
	    path == 0)
		return false;
	mapping->device = makedev(major_number, minor_number);
	mapping->inode = inode;
	mapping->path = line + path;
	mapping->path[strcspn(mapping->path, "\n")] = '\0';
	return strlen(permissions) == 4 && permissions[2] == 'x' && mapping->start < mapping->end;
}

int mapping_list__read(struct mapping_list *list, FILE *file)
{
	CLEANUP(mapping_list__release) struct mapping_list found = {0};
	CLEANUP_FREE char *line = NULL;
	size_t capacity = 0, size = 0;
	uint64_t previous_end = 0;

	while (found.nr < MAPPINGS_MAX && getline(&line, &size, file) >= 0) {
		struct mapping mapping;

		if (!parse_line(line, &mapping) || mapping.start < previous_end)
			continue;
		previous_end = mapping.end;
		if (ARRAY_GROW(found.mappings, found.nr, capacity))
			return -ENOMEM;
		mapping.path = strdup(mapping.path);
		if (!mapping.path)
			return -ENOMEM;
		found.mappings[found.nr++] = mapping;
	}
	*list = found;
	found = (struct mapping_list){0};
	return 0;
}

void mapping_list__release(struct mapping_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->mappings[i].path);
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
