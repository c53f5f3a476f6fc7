// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/later.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/unwind_tables.h"
#include "core/unwind/end.h"
#include "core/unwind/tables.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/debug_log.h"
#include "sym/util/error.h"
#include "sym/util/page.h"

/* More stays in the ring. */
#define ROOM_SIZE ((size_t)16 * 1024 * 1024)

/* A file that cannot be opened, or has no tables in this time, does not hold up its stacks. */
#define WAIT_MAX NANOSECONDS

/* How often a program is run that finds all slots in use. */
#define TRIES 1000

int later__open(struct later *later, const struct later_setup *setup)
{
	struct error error;
	size_t page = page_size();
	int err;

	*later = (struct later){.setup = setup};
	if (setup->take < 0)
		return 0;
	err = ring__open(&later->ring, setup->raw_stacks, &error);
	if (err)
		return err;
	later->walked = page_map(bpf_map__fd(setup->walked),
				 (sizeof(*later->walked) + page - 1) / page * page,
				 PROT_READ | PROT_WRITE, 0);
	if (later->walked == MAP_FAILED)
		return -errno;
	later->room = mmap(NULL, ROOM_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return later->room == MAP_FAILED ? -errno : 0;
}

static bool add(struct later *later, const struct raw_stack *raw, size_t size)
{
	if (ARRAY_GROW(later->stacks, later->nr, later->capacity))
		return false;
	later->stacks[later->nr++] =
		(struct later_stack){.raw = memcpy(later->room + later->used, raw, size),
				     .size = size,
				     .until = monotonic_now() + WAIT_MAX};
	later->used += size;
	return true;
}

static bool is_sound(const struct raw_stack *raw, size_t size)
{
	return size >= offsetof(struct raw_stack, more) && raw->nr_words <= RAW_WORDS &&
	       raw->nr_kept <= RAW_KEPT && raw->nr_mappings <= RAW_MAPPINGS &&
	       size == raw_stack__size(raw);
}

bool later__take(struct later *later, void (*want)(void *context, const struct raw_stack *raw),
		 void *context)
{
	static struct raw_stack raw;
	size_t size = 1;

	if (!later->walked)
		return true;
	ring__look(&later->ring);
	while (ROOM_SIZE - later->used >= sizeof(raw) &&
	       (size = ring__read(&later->ring, &raw, sizeof(raw))) != 0) {
		/* Without memory it is lost, as the report will say. */
		if (is_sound(&raw, size) && add(later, &raw, size))
			want(context, &raw);
	}
	ring__free_read(&later->ring);
	return size == 0;
}

void later__ask_for_all(struct later *later, uint64_t until)
{
	for (size_t i = 0; i < later->nr; i++) {
		later->stacks[i].asked_for = true;
		if (until < later->stacks[i].until)
			later->stacks[i].until = until;
	}
	later->nr_asked_for = later->nr;
}

static bool is_ready(const struct later_stack *stack, const struct unwind_tables *tables)
{
	const struct raw_stack *raw = stack->raw;

	for (uint32_t i = 0; i < raw->nr_mappings; i++) {
		const struct raw_mapping *mapping = &raw_stack__mappings(raw)[i];
		uint32_t module = mapping->module;

		if (mapping->executable && module < UNWIND_MODULES &&
		    unwind_tables__state(tables, module) == UNWIND_MODULE_WANTED)
			return false;
	}
	return true;
}

/* Have the program take it. What it does not take is lost, as the report will say. */
static void hand_over(void *context, const struct raw_walk *walk)
{
	const struct later *later = context;
	struct walked_stack *walked = later->walked;
	LIBBPF_OPTS(bpf_test_run_opts, options);

	debug_log__say(DEBUG_LOG_WALK, "a stack of %u, walked later, has %u frames: %s",
		       walk->raw->tgid, walk->nr, unwind_end__text(walk->end));
	walked->key = walk->raw->key;
	walked->first = walk->raw->first;
	walked->weight = walk->raw->weight;
	walked->end = walk->end;
	walked->nr = walk->nr;
	memcpy(walked->frames, walk->frames, walk->nr * sizeof(walk->frames[0]));
	for (int i = 0; i < TRIES; i++) {
		options.retval = 0;
		if (bpf_prog_test_run_opts(later->setup->take, &options) || options.retval)
			return;
		sched_yield();
	}
}

/* The places of those that are not kept are free. */
static void close_gaps(struct later *later)
{
	later->used = 0;
	for (size_t i = 0; i < later->nr; i++) {
		struct later_stack *stack = &later->stacks[i];

		stack->raw = memmove(later->room + later->used, stack->raw, stack->size);
		later->used += stack->size;
	}
}

void later__walk(struct later *later, const struct unwind_tables *tables, bool all)
{
	CLEANUP_FREE const struct raw_stack **chosen = NULL;
	uint64_t now = monotonic_now();
	size_t nr = 0, kept = 0;

	if (later->nr)
		chosen = calloc(later->nr, sizeof(*chosen));
	if (!chosen)
		return;
	for (size_t i = 0; i < later->nr; i++) {
		struct later_stack stack = later->stacks[i];

		if (!all && now < stack.until && !is_ready(&stack, tables)) {
			later->stacks[kept++] = stack;
			continue;
		}
		chosen[nr++] = stack.raw;
		later->nr_asked_for -= stack.asked_for;
	}
	later->nr = kept;
	/* More are taken while the child walks. */
	raw_walks__run(tables, &later->setup->settings, chosen, nr, hand_over, later);
	close_gaps(later);
}
