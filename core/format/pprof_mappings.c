// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/pprof_mappings.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/format/format.h"
#include "core/kernel/build_id.h"
#include "core/names/frame_names.h"
#include "core/trace/stacks.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/text.h"

#define PAGE 4096

/* Where the first file is told to be: pprof takes 0 for "not known". */
#define FIRST_ADDRESS 0x400000

/* No program or library is so large. */
#define OFFSET_MAX ((uint64_t)1 << FRAME_MODULE_SHIFT)

static uint64_t page_of(uint64_t address)
{
	return address & ~(uint64_t)(PAGE - 1);
}

void pprof_mappings__release(struct pprof_mappings *mappings)
{
	for (size_t i = 0; i < mappings->nr; i++) {
		free(mappings->items[i].path);
		free(mappings->items[i].build_id);
	}
	free(mappings->items);
	free(mappings->frames);
	text_set__release(&mappings->names);
}

/* ---- which frame is where ---- */

static int add_mapping(struct pprof_mappings *mappings, const char *path, const char *build_id,
		       bool kernel)
{
	struct pprof_mapping mapping = {.path = strdup(path),
					.build_id = strdup(build_id),
					.kernel = kernel,
					.has_names = true};

	if (!mapping.path || !mapping.build_id ||
	    ARRAY_GROW(mappings->items, mappings->nr, mappings->capacity)) {
		free(mapping.path);
		free(mapping.build_id);
		return -ENOMEM;
	}
	mappings->items[mappings->nr++] = mapping;
	return 0;
}

/* *number: that of the mapping of this name, perhaps a new one; then *is_new. */
static int number_of(struct pprof_mappings *mappings, const char *name, uint32_t *number,
		     bool *is_new)
{
	int err = text_set__add(&mappings->names, name, number);

	*is_new = !err && *number == mappings->nr;
	return err;
}

static int place_in_kernel(struct pprof_mappings *mappings, const struct sym_query *query,
			   struct pprof_frame *frame)
{
	char name[128] = "[kernel.kallsyms]", build_id[KERNEL_BUILD_ID_MAX];
	uint32_t number;
	bool is_new;
	int err;

	if (query->module)
		snprintf(name, sizeof(name), "[%s]", query->module);
	err = number_of(mappings, name, &number, &is_new);
	if (!err && is_new) {
		kernel_build_id__read(query->module, build_id);
		err = add_mapping(mappings, name, build_id, true);
	}
	*frame = (struct pprof_frame){number + 1, sym_query__lookup_address(query)};
	return err;
}

/* The place at offset of a file, which is told apart by path and build ID. */
static int place_at(struct pprof_mappings *mappings, const char *path, size_t length,
		    const char *build_id, uint64_t offset, struct pprof_frame *frame)
{
	char clean_path[PATH_MAX], clean_id[256];
	CLEANUP_FREE char *name = NULL;
	uint32_t number;
	bool is_new;
	int err;

	text__clean(path, length, false, clean_path, sizeof(clean_path));
	text__clean(build_id, strlen(build_id), false, clean_id, sizeof(clean_id));
	if (asprintf(&name, "%s\n%s", clean_path, clean_id) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	err = number_of(mappings, name, &number, &is_new);
	if (!err && is_new)
		err = add_mapping(mappings, clean_path, clean_id, false);
	*frame = (struct pprof_frame){number + 1, offset};
	return err;
}

/* Code that the process has made, and what is far behind the end of any file, is in none. */
static int place_in_file(struct pprof_mappings *mappings, const struct sym_query *query,
			 struct pprof_frame *frame)
{
	uint64_t lookup = sym_query__lookup_address(query), back = query->address - lookup;
	uint64_t offset = (query->path ? query->file_offset : query->module_offset) - back;

	*frame = (struct pprof_frame){0, lookup};
	if (offset >= OFFSET_MAX)
		return 0;
	if (query->path)
		return place_at(mappings, query->path, mapping_path__length(query->path),
				query->build_id ? query->build_id : "", offset, frame);
	if (!query->module || query->generated)
		return 0;
	return place_at(mappings, query->module, strlen(query->module), "", offset, frame);
}

/* The mapping spans what is used of it. */
static void take_frame(struct pprof_mapping *mapping, const struct pprof_frame *frame,
		       const struct sym_query *query)
{
	uint64_t page = page_of(frame->address), end = mapping->offset + mapping->size;

	if (mapping->size == 0 || page < mapping->offset)
		mapping->offset = page;
	if (mapping->size == 0 || page >= end)
		end = page + PAGE;
	mapping->size = end - mapping->offset;
	mapping->has_names &= query->name != NULL;
	mapping->has_files |= query->source.file != NULL;
	mapping->has_lines |= query->source.line != 0;
	mapping->has_inlined |= query->nr_inlined != 0;
}

static int place_frame(struct pprof_mappings *mappings, const struct frame_names *names, size_t i)
{
	const struct sym_query *query = &names->queries[i];
	struct pprof_frame *frame = &mappings->frames[i];
	int err = frame_tag(names->places[i].frame) == FRAME_KERNEL ?
			  place_in_kernel(mappings, query, frame) :
			  place_in_file(mappings, query, frame);

	if (!err && frame->mapping)
		take_frame(&mappings->items[frame->mapping - 1], frame, query);
	return err;
}

/* ---- all of them ---- */

/* Files get addresses one behind the other, with a gap; the kernel has its own. */
static void lay_out(struct pprof_mappings *mappings, size_t nr_frames)
{
	uint64_t next = FIRST_ADDRESS;

	for (size_t i = 0; i < mappings->nr; i++) {
		struct pprof_mapping *mapping = &mappings->items[i];

		mapping->start = mapping->kernel ? mapping->offset : next;
		if (!mapping->kernel)
			next += mapping->size + PAGE;
	}
	for (size_t i = 0; i < nr_frames; i++) {
		struct pprof_frame *frame = &mappings->frames[i];
		const struct pprof_mapping *mapping;

		if (!frame->mapping)
			continue;
		mapping = &mappings->items[frame->mapping - 1];
		frame->address += mapping->start - mapping->offset;
	}
}

/* The mapping of the outermost frame, 1 more than its index; 0: none. */
static uint32_t root_of(const struct pprof_mappings *mappings, const struct shown_stacks *shown,
			const struct counted_stack *item)
{
	for (uint32_t i = item->user->nr; i-- > 0;) {
		const struct sym_query *query = shown_stacks__answer(shown, item, item->user, i);

		if (query)
			return mappings->frames[query - shown->names->queries].mapping;
	}
	return 0;
}

/* What most stacks begin in. */
static int find_main(const struct pprof_mappings *mappings, const struct shown_stacks *shown,
		     uint32_t *main)
{
	CLEANUP_FREE uint64_t *weights = calloc(mappings->nr + 1, sizeof(*weights));

	*main = 0;
	if (!weights)
		return -ENOMEM;
	for (size_t i = 0; i < shown->counts->nr; i++) {
		uint32_t root = root_of(mappings, shown, &shown->counts->items[i]);

		if (root)
			weights[root - 1] += shown->counts->items[i].count;
	}
	for (uint32_t i = 1; i < mappings->nr; i++)
		if (weights[i] > weights[*main])
			*main = i;
	return 0;
}

/* It changes places with the first one. */
static void put_first(struct pprof_mappings *mappings, size_t nr_frames, uint32_t main)
{
	struct pprof_mapping first;

	if (main == 0)
		return;
	first = mappings->items[0];
	mappings->items[0] = mappings->items[main];
	mappings->items[main] = first;
	for (size_t i = 0; i < nr_frames; i++) {
		struct pprof_frame *frame = &mappings->frames[i];

		if (frame->mapping == 1 || frame->mapping == main + 1)
			frame->mapping = frame->mapping == 1 ? main + 1 : 1;
	}
}

int pprof_mappings__collect(struct pprof_mappings *mappings, const struct shown_stacks *shown)
{
	const struct frame_names *names = shown->names;
	uint32_t main;
	int err = 0;

	mappings->frames = calloc(names->nr + 1, sizeof(*mappings->frames));
	if (!mappings->frames)
		return -ENOMEM;
	for (size_t i = 0; i < names->nr && !err; i++)
		err = place_frame(mappings, names, i);
	if (!err)
		err = find_main(mappings, shown, &main);
	if (err)
		return err;
	put_first(mappings, names->nr, main);
	lay_out(mappings, names->nr);
	return 0;
}
