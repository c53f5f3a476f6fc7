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

int epochs__turn(struct epochs *epochs, uint32_t *ended, struct error *error)
{
	uint32_t next = (epochs->current + 1) % NR_EPOCHS, zero = 0;
	int err = bpf_map_update_elem(bpf_map__fd(epochs->maps->epoch), &zero, &next, BPF_ANY);

	if (!err)
		err = grace__wait(&epochs->grace);
	if (err)
		return error__set(error, err, "cannot end an interval: %s", strerror(-err));
	*ended = epochs->current;
	epochs->current = next;
	return 0;
}

static bool key_is_of(const void *key, uint32_t epoch)
{
	return ((const struct stack_key *)key)->epoch == epoch;
}

static bool stack_is_of(const void *id, uint32_t epoch)
{
	return stack_id__epoch(*(const struct stack_id *)id) == epoch;
}

/* The keys of a map that are of an epoch. */
struct key_list {
	uint32_t epoch;
	bool (*is_of)(const void *key, uint32_t epoch);
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

	if (!list->is_of(key, list->epoch))
		return 0;
	if (array__grow((void **)&list->keys, list->nr, &list->capacity, list->size))
		return -ENOMEM;
	memcpy(list->keys + list->nr++ * list->size, key, list->size);
	return 0;
}

static int clear_map(const struct bpf_map *map, uint32_t epoch,
		     bool (*is_of)(const void *key, uint32_t epoch))
{
	CLEANUP(key_list__release)
	struct key_list list = {.epoch = epoch, .is_of = is_of, .size = bpf_map__key_size(map)};
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
	const struct trace_maps *maps = epochs->maps;
	int err = maps->counts ? clear_map(maps->counts, ended, key_is_of) : 0;

	if (!err)
		err = clear_map(maps->stacks, ended, stack_is_of);
	if (!err)
		err = clear_counters(maps->event_counters, ended);
	return err ? error__set(error, err, "cannot empty the stack table: %s", strerror(-err)) : 0;
}
