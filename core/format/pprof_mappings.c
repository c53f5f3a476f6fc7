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
	text_set__release(&mappings->paths);
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

/* The mapping with that path and build ID, which is made if there is none. */
static int find_mapping(struct pprof_mappings *mappings, const char *path, size_t length,
			const char *build_id, struct pprof_frame *frame)
{
	char clean[PATH_MAX];
	CLEANUP_FREE char *key = NULL;
	uint32_t number;

	text__clean(path, length, false, clean, sizeof(clean));
	if (asprintf(&key, "%s\n%s", clean, build_id) < 0) {
		key = NULL;
		return -ENOMEM;
	}
	if (text_set__add(&mappings->paths, key, &number))
		return -ENOMEM;
	frame->mapping = number + 1;
	return number < mappings->nr ? 0 : add_mapping(mappings, clean, build_id, false);
}

static int place_in_kernel(struct pprof_mappings *mappings, const struct sym_query *query,
			   struct pprof_frame *frame)
{
	char path[128] = "[kernel.kallsyms]", build_id[KERNEL_BUILD_ID_MAX];

	if (query->module)
		snprintf(path, sizeof(path), "[%s]", query->module);
	frame->address = sym_query__lookup_address(query);
	if (text_set__add(&mappings->paths, path, &frame->mapping))
		return -ENOMEM;
	if (frame->mapping++ < mappings->nr)
		return 0;
	kernel_build_id__read(query->module, build_id);
	return add_mapping(mappings, path, build_id, true);
}

/* The file, and where in it; nothing of code that the process has made. */
static int place_in_file(struct pprof_mappings *mappings, const struct sym_query *query,
			 struct pprof_frame *frame)
{
	uint64_t back = query->address - sym_query__lookup_address(query);

	frame->address = sym_query__lookup_address(query);
	if (query->path) {
		frame->address = query->file_offset - back;
		return find_mapping(mappings, query->path, mapping_path__length(query->path),
				    query->build_id ? query->build_id : "", frame);
	}
	if (!query->module || query->generated)
		return 0;
	frame->address = query->module_offset - back;
	return find_mapping(mappings, query->module, strlen(query->module), "", frame);
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
