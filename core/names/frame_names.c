// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/names/frame_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/names/lost_files.h"
#include "core/names/program_names.h"
#include "core/trace/stacks.h"
#include "core/unwind/modules.h"
#include "sym/sym.h"
#include "sym/util/array.h"

static struct frame_place place_of(const struct counted_stack *stack, uint64_t frame,
				   bool return_address)
{
	struct frame_place place = {.frame = frame_plain(frame), .return_address = return_address};

	if (frame_tag(frame) != FRAME_KERNEL) {
		place.tgid = stack->key.tgid;
		place.program = stack->key.program;
	}
	return place;
}

/* The kernel's frames first, then process by process. */
static int compare_places(const void *left, const void *right)
{
	const struct frame_place *a = left, *b = right;
	int order =
		COMPARE(frame_tag(b->frame) == FRAME_KERNEL, frame_tag(a->frame) == FRAME_KERNEL);

	if (!order)
		order = COMPARE(a->tgid, b->tgid);
	if (!order)
		order = COMPARE(a->program, b->program);
	if (!order)
		order = COMPARE(a->frame, b->frame);
	if (!order)
		order = COMPARE(a->return_address, b->return_address);
	return order;
}

/* Sort the first nr places from place on, and drop repetitions. Returns how many are left. */
static size_t sort_distinct(struct frame_place *places, size_t nr)
{
	size_t kept = 0;

	array__sort(places, nr, sizeof(*places), compare_places);
	for (size_t i = 0; i < nr; i++)
		if (kept == 0 || compare_places(&places[kept - 1], &places[i]))
			places[kept++] = places[i];
	return kept;
}

struct place_list {
	struct frame_place *places;
	size_t nr, capacity;
	size_t compact_at; /* sort and drop repetitions when there are so many */
};

static int add_frames(struct place_list *list, const struct counted_stack *stack,
		      const struct frames *frames)
{
	for (uint32_t i = 0; i < frames->nr; i++) {
		uint64_t frame = frames->frames[i];

		if (frame_tag(frame) == FRAME_MARK)
			continue;
		if (ARRAY_GROW(list->places, list->nr, list->capacity))
			return -ENOMEM;
		list->places[list->nr++] =
			place_of(stack, frame, frame__is_return_address(frame, i));
	}
	/* Many stacks share few frames: memory follows the distinct ones. */
	if (list->nr >= list->compact_at) {
		list->nr = sort_distinct(list->places, list->nr);
		list->compact_at = list->nr * 2 + 4096;
	}
	return 0;
}

static int collect(struct place_list *list, const struct stack_counts *counts)
{
	int err = 0;

	list->compact_at = 4096;
	for (size_t i = 0; i < counts->nr && !err; i++) {
		const struct counted_stack *item = &counts->items[i];

		err = add_frames(list, item, item->kernel);
		if (!err)
			err = add_frames(list, item, item->user);
	}
	list->nr = sort_distinct(list->places, list->nr);
	return err;
}

static size_t count_kernel_places(const struct frame_names *names)
{
	size_t nr = 0;

	while (nr < names->nr && frame_tag(names->places[nr].frame) == FRAME_KERNEL)
		nr++;
	return nr;
}

void frame_names__note_missing(struct frame_names *names, const struct symbolizer *symbolizer)
{
	names->unanswered = symbolizer__unanswered(symbolizer);
	names->incomplete_debug = symbolizer__has_incomplete_debug(symbolizer);
}

static void ask(struct frame_names *names, const struct frame_sources *sources)
{
	struct symbolizer *symbolizer = sources->symbolizer;
	size_t kernel = count_kernel_places(names), user = names->nr - kernel;

	for (size_t i = 0; i < names->nr; i++)
		names->queries[i] = frame_place__query(&names->places[i]);
	if (kernel)
		names->kernel_error = symbolizer__name_kernel(symbolizer, names->queries, kernel);
	names->user_error =
		program_names__find(sources, names->places + kernel, names->queries + kernel, user);
	for (size_t i = 0; i < names->nr; i++)
		frame_place__find_address(&names->places[i], sources->unwinding,
					  &names->queries[i]);
	frame_names__note_missing(names, symbolizer);
}

static int add_modules(struct frame_names *names, const struct unwind_module_list *modules)
{
	int err = 0;

	for (size_t i = 0; i < names->nr && !err; i++)
		err = frame__add_module(names->places[i].frame, modules, &names->modules,
					&names->queries[i]);
	return err;
}

static size_t count_lost_files(const struct frame_names *names,
			       const struct unwind_module_list *modules)
{
	struct lost_files lost = {0};

	for (size_t i = 0; i < names->nr; i++)
		lost_files__note(&lost, names->places[i].frame, modules);
	return lost.nr;
}

int frame_names__find_all(struct frame_names *names, const struct stack_counts *counts,
			  const struct frame_sources *sources)
{
	struct place_list list = {0};
	int err = collect(&list, counts);

	*names = (struct frame_names){.places = list.places, .nr = list.nr};
	if (!err) {
		names->queries = calloc(list.nr + 1, sizeof(*names->queries));
		err = names->queries ? 0 : -ENOMEM;
	}
	if (!err) {
		ask(names, sources);
		err = add_modules(names, sources->modules);
		names->lost_files = count_lost_files(names, sources->modules);
	}
	if (err)
		frame_names__release(names);
	return err;
}

void frame_names__release(struct frame_names *names)
{
	free(names->places);
	free(names->queries);
	arena__release(&names->modules);
	*names = (struct frame_names){0};
}

const struct sym_query *frame_names__get(const struct frame_names *names,
					 const struct counted_stack *stack, uint64_t frame,
					 bool return_address)
{
	struct frame_place place = place_of(stack, frame, return_address);
	const struct frame_place *found =
		bsearch(&place, names->places, names->nr, sizeof(place), compare_places);

	if (!found)
		abort(); /* not a frame of the counts that names was made for */
	return &names->queries[found - names->places];
}
