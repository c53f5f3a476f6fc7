// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/epochs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "core/kernel/cpus.h"
#include "core/kernel/hash_map.h"
#include "core/trace/maps.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"

int epochs__open(struct epochs *epochs, const struct trace_maps *maps, struct error *error)
{
	struct epochs opened = {.maps = maps};
	int err = grace__open(&opened.grace);

	if (err)
		return error__set(error, err, "cannot create a BPF map of maps: %s",
				  strerror(-err));
	*epochs = opened;
	return 0;
}

void epochs__close(struct epochs *epochs)
{
	grace__close(&epochs->grace);
	*epochs = (struct epochs){0};
}

static int begin(struct epochs *epochs, uint32_t next, uint32_t *ended, struct error *error)
{
	uint32_t zero = 0;
	int err = bpf_map_update_elem(bpf_map__fd(epochs->maps->epoch), &zero, &next, BPF_ANY);

	if (!err)
		err = grace__wait(&epochs->grace);
	if (err)
		return error__set(error, err, "cannot end an interval: %s", strerror(-err));
	*ended = epochs->current;
	epochs->current = next;
	return 0;
}

int epochs__turn(struct epochs *epochs, uint32_t *ended, struct error *error)
{
	return begin(epochs, (epochs->current + 1) % NR_EPOCHS, ended, error);
}

int epochs__end(struct epochs *epochs, uint32_t *ended, struct error *error)
{
	return begin(epochs, EPOCH_NONE, ended, error);
}

/* ---- stacks of an epoch that has ended, and is still needed ---- */

struct kept_stacks {
	uint32_t epoch;
	struct stack_id *ids;
	size_t nr, capacity;
};

static void kept_stacks__release(struct kept_stacks *kept)
{
	free(kept->ids);
}

static int compare_ids(const void *left, const void *right)
{
	const struct stack_id *a = left, *b = right;
	int order = COMPARE(a->lo, b->lo);

	return order ? order : COMPARE(a->hi, b->hi);
}

static int keep(struct kept_stacks *kept, struct stack_id id)
{
	if ((!id.lo && !id.hi) || stack_id__epoch(id) != kept->epoch)
		return 0;
	if (ARRAY_GROW(kept->ids, kept->nr, kept->capacity))
		return -ENOMEM;
	kept->ids[kept->nr++] = id;
	return 0;
}

static int keep_of_key(struct kept_stacks *kept, const struct stack_key *key)
{
	int err = keep(kept, key->kernel);

	return err ? err : keep(kept, key->user);
}

static int keep_of_thread(void *context, const void *key __attribute__((unused)), const void *value)
{
	const struct off_thread *thread = value;

	return thread->since ? keep_of_key(context, &thread->key) : 0;
}

static int keep_of_count(void *context, const void *key, const void *value __attribute__((unused)))
{
	struct kept_stacks *kept = context;
	const struct stack_key *counted = key;

	return counted->epoch != kept->epoch ? keep_of_key(kept, counted) : 0;
}

/* The further parts of the stacks: a part names the next one. */
static int keep_parts(struct kept_stacks *kept, int stacks)
{
	for (size_t i = 0; i < kept->nr; i++) {
		struct stack_part part;
		int err = bpf_map_lookup_elem(stacks, &kept->ids[i], &part);

		if (!err)
			err = keep(kept, part.next);
		/* A thread that was read while it came back or left had no such stack. */
		if (err && err != -ENOENT)
			return err;
	}
	return 0;
}

/*
 * First those of threads that wait, then those of keys: a thread that comes back in between is in
 * either, since its program is done after a grace period.
 */
static int keep_stacks(const struct epochs *epochs, struct kept_stacks *kept)
{
	const struct trace_maps *maps = epochs->maps;
	int err;

	if (!epochs->threads)
		return 0;
	err = hash_map__read(epochs->threads, keep_of_thread, kept);
	if (!err)
		err = grace__wait(&epochs->grace);
	if (!err)
		err = hash_map__read(maps->counts, keep_of_count, kept);
	if (!err)
		err = keep_parts(kept, bpf_map__fd(maps->stacks));
	array__sort(kept->ids, kept->nr, sizeof(*kept->ids), compare_ids);
	return err;
}

/* ---- to empty the tables ---- */

static bool is_key_to_clear(const void *key, const struct kept_stacks *kept)
{
	return ((const struct stack_key *)key)->epoch == kept->epoch;
}

static bool is_stack_to_clear(const void *id, const struct kept_stacks *kept)
{
	return stack_id__epoch(*(const struct stack_id *)id) == kept->epoch &&
	       (!kept->nr || !bsearch(id, kept->ids, kept->nr, sizeof(*kept->ids), compare_ids));
}

/* The keys of a map that are to be cleared. */
struct key_list {
	const struct kept_stacks *kept;
	bool (*is_chosen)(const void *key, const struct kept_stacks *kept);
	size_t size; /* of a key */
	char *keys;
	size_t nr, capacity;
};

static void key_list__release(struct key_list *list)
{
	free(list->keys);
}

static int take_key(void *context, const void *key, const void *value __attribute__((unused)))
{
	struct key_list *list = context;

	if (!list->is_chosen(key, list->kept))
		return 0;
	if (array__grow((void **)&list->keys, list->nr, &list->capacity, list->size))
		return -ENOMEM;
	memcpy(list->keys + list->nr++ * list->size, key, list->size);
	return 0;
}

static int clear_map(const struct bpf_map *map, const struct kept_stacks *kept,
		     bool (*is_chosen)(const void *key, const struct kept_stacks *kept))
{
	CLEANUP(key_list__release)
	struct key_list list = {
		.kept = kept, .is_chosen = is_chosen, .size = bpf_map__key_size(map)};
	int err = hash_map__read(map, take_key, &list);

	return err ? err : hash_map__delete(map, list.keys, list.nr);
}

static int clear_counters(const struct bpf_map *map, uint32_t epoch)
{
	int cpus = cpus__count_possible();
	CLEANUP_FREE struct event_counters *zeros = NULL;

	if (cpus < 0)
		return cpus;
	zeros = calloc((size_t)cpus, sizeof(*zeros));
	return zeros ? bpf_map_update_elem(bpf_map__fd(map), &epoch, zeros, BPF_ANY) : -ENOMEM;
}

int epochs__clear(const struct epochs *epochs, uint32_t ended, struct error *error)
{
	CLEANUP(kept_stacks__release) struct kept_stacks kept = {.epoch = ended};
	const struct trace_maps *maps = epochs->maps;
	int err = keep_stacks(epochs, &kept);

	if (!err && maps->counts)
		err = clear_map(maps->counts, &kept, is_key_to_clear);
	if (!err)
		err = clear_map(maps->stacks, &kept, is_stack_to_clear);
	if (!err)
		err = clear_counters(maps->event_counters, ended);
	return err ? error__set(error, err, "cannot empty the stack table: %s", strerror(-err)) : 0;
}
