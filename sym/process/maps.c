// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/maps.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "sym/process/vdso.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/*
 * vm.max_map_count is 65,530 by default; large programs map some hundreds. A
 * path can be longer than PATH_MAX: directories can be nested without end.
 */
#define MAPPINGS_MAX	65536
#define TEXT_BYTES_MAX	((size_t)16 * 1024 * 1024)
#define PATHS_BYTES_MAX ((size_t)4 * 1024 * 1024)

/*
 * "55d0c5a00000-55d0c5a21000 r-xp 00002000 fe:00 1835035   /usr/bin/cat"
 * Returns whether line is an executable mapping; its path lies in line.
 */
static bool parse_line(char *line, struct mapping *mapping)
{
	char *rest;
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
	rest = line + path;
	rest[strcspn(rest, "\n")] = '\0';
	mapping->path = rest;
	return strlen(permissions) == 4 && permissions[2] == 'x' && mapping->start < mapping->end;
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

static bool is_anonymous(const struct mapping *mapping)
{
	return !mapping->inode &&
	       (!mapping->path[0] || !strncmp(mapping->path, "[anon:", strlen("[anon:")));
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
		if (!parse_line(line, &mapping) || mapping.start < previous_end)
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

/* The rest of a mapping, from an address in it on. */
static struct mapping rest_from(const struct mapping *mapping, uint64_t start)
{
	struct mapping rest = *mapping;

	rest.offset += start - rest.start;
	rest.start = start;
	return rest;
}

/*
 * Both lists are ascending and disjoint, and so is the result. Each mapping above can leave two
 * pieces of one below: out has room for nr_below + 2 * nr_above.
 */
static size_t overlay(const struct mapping *below, size_t nr_below, const struct mapping *above,
		      size_t nr_above, struct mapping *out)
{
	size_t nr = 0, next = 0; /* of those above */

	for (size_t i = 0; i < nr_below; i++) {
		struct mapping rest = below[i];

		for (; next < nr_above && above[next].start < rest.end; next++) {
			if (rest.start < above[next].start) {
				out[nr] = rest;
				out[nr++].end = above[next].start;
			}
			if (above[next].end > rest.start)
				rest = rest_from(&rest, above[next].end < rest.end ?
								above[next].end :
								rest.end);
			/* It may hide the next one, too. */
			if (rest.start == rest.end)
				break;
			out[nr++] = above[next];
		}
		if (rest.start < rest.end)
			out[nr++] = rest;
	}
	for (; next < nr_above; next++)
		out[nr++] = above[next];
	return nr;
}

/* Copy the paths of mappings, which belong to others, up to the most that there may be. */
static int own_paths(struct mapping_list *list, size_t nr)
{
	size_t bytes = 0;

	while (list->nr < nr && list->nr < MAPPINGS_MAX) {
		if (keep_path(list, &list->mappings[list->nr], &bytes))
			return -ENOMEM;
		list->nr++;
	}
	return 0;
}

int mapping_list__lay(struct mapping_list *list, const struct mapping_list *base,
		      const struct mapping *mappings, size_t nr)
{
	CLEANUP(mapping_list__release) struct mapping_list laid = {0};
	CLEANUP_FREE struct mapping *own = calloc(2 * nr + 1, sizeof(*own));
	CLEANUP_FREE struct mapping *next = calloc(2 * nr + 1, sizeof(*next));
	size_t nr_own = 0;

	laid.mappings = calloc(base->nr + 4 * nr + 1, sizeof(*laid.mappings));
	if (!own || !next || !laid.mappings)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct mapping *before = own;

		if (mappings[i].start >= mappings[i].end)
			continue;
		nr_own = overlay(own, nr_own, &mappings[i], 1, next);
		own = next;
		next = before;
	}
	if (own_paths(&laid, overlay(base->mappings, base->nr, own, nr_own, laid.mappings)))
		return -ENOMEM;
	*list = laid;
	laid = (struct mapping_list){0};
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

struct indexed_mapping {
	const struct mapping *mapping;
	/* The one that ends last among this one and those before it of the same path. */
	const struct mapping *farthest;
};

static int compare_with_file(const struct mapping *mapping, const struct sym_file_id *file)
{
	int order = COMPARE(mapping->device, file->device);

	return order ? order : COMPARE(mapping->inode, file->inode);
}

static int compare_paths(const struct mapping *a, const struct mapping *b)
{
	int order = COMPARE(a->device, b->device);

	if (!order)
		order = COMPARE(a->inode, b->inode);
	return order || a->path == b->path ? order : strcmp(a->path, b->path);
}

/* Mappings that begin at the same offset stay in the order of addresses. */
static int compare_places(const void *a, const void *b)
{
	const struct mapping *left = ((const struct indexed_mapping *)a)->mapping;
	const struct mapping *right = ((const struct indexed_mapping *)b)->mapping;
	int order = compare_paths(left, right);

	if (!order)
		order = COMPARE(left->offset, right->offset);
	return order ? order : COMPARE(left->start, right->start);
}

/* The offset in its file behind its last byte. */
static uint64_t end_in_file(const struct mapping *mapping)
{
	return mapping->offset + (mapping->end - mapping->start);
}

int mapping_index__make(struct mapping_index *index, const struct mapping_list *list)
{
	struct indexed_mapping *items = calloc(list->nr + 1, sizeof(*items));
	size_t nr = 0;

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++)
		if (list->mappings[i].inode || vdso__is_ours(&list->mappings[i]))
			items[nr++].mapping = &list->mappings[i];
	array__sort(items, nr, sizeof(*items), compare_places);
	for (size_t i = 0; i < nr; i++) {
		const struct indexed_mapping *before = i ? &items[i - 1] : NULL;

		items[i].farthest = items[i].mapping;
		if (before && !compare_paths(before->mapping, items[i].mapping) &&
		    end_in_file(before->farthest) >= end_in_file(items[i].mapping))
			items[i].farthest = before->farthest;
	}
	*index = (struct mapping_index){.items = items, .nr = nr};
	return 0;
}

void mapping_index__release(struct mapping_index *index)
{
	free(index->items);
	*index = (struct mapping_index){0};
}

/* The number of the first one of a file, or where it would be. */
static size_t first_of_file(const struct mapping_index *index, const struct sym_file_id *file)
{
	size_t low = 0, high = index->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_with_file(index->items[middle].mapping, file) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The number behind the mappings of the same path, from first on, that begin up to offset. */
static size_t behind_offset(const struct mapping_index *index, size_t first, uint64_t offset)
{
	const struct mapping *of_path = index->items[first].mapping;
	size_t low = first, high = index->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct mapping *mapping = index->items[middle].mapping;

		if (!compare_paths(of_path, mapping) && mapping->offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t mapping_index__find(const struct mapping_index *index, const struct sym_file_id *file,
			   uint64_t offset, const struct mapping *found[MAPPING_FILES_MAX])
{
	size_t first = first_of_file(index, file), nr = 0;

	/* A process can give a file names without end. */
	for (int paths = 0; paths < MAPPING_FILES_MAX; paths++) {
		size_t behind;

		if (first == index->nr || compare_with_file(index->items[first].mapping, file))
			break;
		behind = behind_offset(index, first, offset);
		if (behind > first && end_in_file(index->items[behind - 1].farthest) > offset)
			found[nr++] = index->items[behind - 1].farthest;
		first = behind_offset(index, first, UINT64_MAX);
	}
	return nr;
}

bool mapping_list__shares(const struct mapping_list *list, const struct mapping *told, size_t nr)
{
	bool of_files = false;

	for (size_t i = 0; i < nr; i++) {
		const struct mapping *found;

		if (!told[i].inode)
			continue;
		of_files = true;
		found = mapping_list__find(list, told[i].start);
		if (found && found->inode == told[i].inode && found->device == told[i].device &&
		    found->start - found->offset == told[i].start - told[i].offset)
			return true;
	}
	return !of_files;
}
