// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/stacks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/hash_map.h"
#include "core/trace/maps.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"

static const struct frames no_frames;

/* The use of a stack by a key. Uses are sorted by id, so that each stack is fetched once. */
struct stack_use {
	struct stack_id id;
	const struct frames **target; /* where the key keeps it */
};

static int compare_ids(struct stack_id a, struct stack_id b)
{
	int order = COMPARE(a.lo, b.lo);

	return order ? order : COMPARE(a.hi, b.hi);
}

static int compare_uses(const void *a, const void *b)
{
	return compare_ids(((const struct stack_use *)a)->id, ((const struct stack_use *)b)->id);
}

/*
 * Root first: stacks that share their callers come together. The hidden first frames of each do not
 * count.
 */
static int compare_frames(const struct frames *a, uint32_t hidden_a, const struct frames *b,
			  uint32_t hidden_b)
{
	uint32_t shown_a = a->nr - hidden_a, shown_b = b->nr - hidden_b;

	for (uint32_t i = 1; i <= shown_a && i <= shown_b; i++) {
		int order = COMPARE(a->frames[a->nr - i], b->frames[b->nr - i]);

		if (order)
			return order;
	}
	return COMPARE(shown_a, shown_b);
}

static int compare_shown(const void *left, const void *right)
{
	const struct counted_stack *a = left, *b = right;
	int order = strncmp(a->key.comm, b->key.comm, COMM_LEN);

	if (!order)
		order = COMPARE(a->key.tgid, b->key.tgid);
	if (!order)
		order = COMPARE(a->key.program, b->key.program);
	if (!order)
		order = COMPARE(a->key.tid, b->key.tid);
	if (!order)
		order = COMPARE(a->key.lasts, b->key.lasts);
	if (!order)
		order = compare_frames(a->user, 0, b->user, 0);
	if (!order)
		order = compare_frames(a->kernel, a->hidden, b->kernel, b->hidden);
	return order;
}

static int compare_counted(const void *left, const void *right)
{
	const struct counted_stack *a = left, *b = right;
	int order = COMPARE(a->weight, b->weight);

	if (!order)
		order = COMPARE(a->count, b->count);
	return order ? order : compare_shown(a, b);
}

/* Where counts are read to. */
struct read_counts {
	struct stack_counts *counts;
	size_t capacity;
	uint32_t epoch;
};

static int take_count(void *context, const void *map_key, const void *value)
{
	struct read_counts *read = context;
	struct stack_counts *counts = read->counts;
	const struct stack_count *count = value;
	const struct stack_key *key = map_key;

	if (key->epoch != read->epoch)
		return 0;
	if (ARRAY_GROW(counts->items, counts->nr, read->capacity))
		return -ENOMEM;
	counts->items[counts->nr++] = (struct counted_stack){.key = *key,
							     .count = count->count,
							     .weight = count->weight,
							     .cgroup = count->cgroup,
							     .kernel = &no_frames,
							     .user = &no_frames};
	return 0;
}

static bool has_frames(struct stack_id id)
{
	return id.lo || id.hi;
}

/* Fetch the parts of a stack, from the leaf on. Returns 0 or a negative errno. */
static int fetch_parts(int fd, struct stack_id id, uint64_t frames[STACK_SLOTS], uint32_t *nr)
{
	for (*nr = 0; has_frames(id);) {
		struct stack_part part;
		int err = bpf_map_lookup_elem(fd, &id, &part);

		if (err)
			return err;
		if (part.nr > PART_FRAMES || part.nr > STACK_SLOTS - *nr)
			return -EINVAL;
		memcpy(frames + *nr, part.frames, part.nr * sizeof(part.frames[0]));
		*nr += part.nr;
		id = part.next;
	}
	return 0;
}

static int fetch_stack(struct stack_counts *counts, int fd, struct stack_id id,
		       const struct frames **fetched)
{
	uint64_t all[STACK_SLOTS];
	struct frames *frames;
	uint32_t nr;
	int err = fetch_parts(fd, id, all, &nr);

	if (err)
		return err;
	frames = arena__alloc(&counts->frames, sizeof(*frames) + nr * sizeof(all[0]));
	if (!frames)
		return -ENOMEM;
	frames->nr = nr;
	memcpy(frames->frames, all, nr * sizeof(all[0]));
	*fetched = frames;
	return 0;
}

/* Put a mark behind the callers. Others have the same stack without it: it is copied. */
static int mark_as_lasting(struct stack_counts *counts, struct counted_stack *item)
{
	uint32_t nr = item->user->nr;
	struct frames *frames =
		arena__alloc(&counts->frames, sizeof(*frames) + (nr + 1) * sizeof(uint64_t));

	if (!frames)
		return -ENOMEM;
	frames->nr = nr + 1;
	memcpy(frames->frames, item->user->frames, nr * sizeof(uint64_t));
	frames->frames[nr] = frame_mark(MARK_LASTS, 0);
	item->user = frames;
	return 0;
}

static int read_stacks(struct stack_counts *counts, int fd)
{
	CLEANUP_FREE struct stack_use *uses = calloc(counts->nr * 2 + 1, sizeof(*uses));
	size_t nr = 0;

	if (!uses)
		return -ENOMEM;
	for (size_t i = 0; i < counts->nr; i++) {
		struct counted_stack *item = &counts->items[i];

		if (has_frames(item->key.kernel))
			uses[nr++] = (struct stack_use){item->key.kernel, &item->kernel};
		if (has_frames(item->key.user))
			uses[nr++] = (struct stack_use){item->key.user, &item->user};
	}
	array__sort(uses, nr, sizeof(*uses), compare_uses);
	for (size_t i = 0; i < nr; i++) {
		int err = 0;

		if (i > 0 && compare_ids(uses[i].id, uses[i - 1].id) == 0)
			*uses[i].target = *uses[i - 1].target; /* where the key keeps it */
		else
			err = fetch_stack(counts, fd, uses[i].id, uses[i].target);
		if (err)
			return err;
	}
	for (size_t i = 0; i < counts->nr; i++)
		if (counts->items[i].key.lasts && mark_as_lasting(counts, &counts->items[i]))
			return -ENOMEM;
	return 0;
}

int stack_counts__read(struct stack_counts *counts, const struct trace_maps *maps, uint32_t epoch,
		       struct error *error)
{
	struct read_counts read = {.counts = counts, .epoch = epoch};
	int err;

	*counts = (struct stack_counts){0};
	err = hash_map__read(maps->counts, take_count, &read);
	if (!err)
		err = read_stacks(counts, bpf_map__fd(maps->stacks));
	if (err) {
		stack_counts__release(counts);
		return error__set(error, err, "cannot read the stack table: %s", strerror(-err));
	}
	array__sort(counts->items, counts->nr, sizeof(*counts->items), compare_counted);
	return 0;
}

void stack_counts__hide(struct stack_counts *counts,
			bool (*is_own)(const void *context, uint64_t frame, bool return_address),
			const void *context)
{
	size_t kept = 0;

	for (size_t i = 0; i < counts->nr; i++) {
		struct counted_stack *item = &counts->items[i];
		const struct frames *kernel = item->kernel;

		while (item->hidden < kernel->nr &&
		       is_own(context, kernel->frames[item->hidden], item->hidden > 0))
			item->hidden++;
	}
	array__sort(counts->items, counts->nr, sizeof(*counts->items), compare_shown);
	for (size_t i = 0; i < counts->nr; i++) {
		if (kept && !compare_shown(&counts->items[kept - 1], &counts->items[i])) {
			counts->items[kept - 1].count += counts->items[i].count;
			counts->items[kept - 1].weight += counts->items[i].weight;
		} else
			counts->items[kept++] = counts->items[i];
	}
	counts->nr = kept;
	array__sort(counts->items, counts->nr, sizeof(*counts->items), compare_counted);
}

void stack_counts__release(struct stack_counts *counts)
{
	free(counts->items);
	arena__release(&counts->frames);
	*counts = (struct stack_counts){0};
}
