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
	char *keys;
	size_t nr, capacity;
};

static void key_list__release(struct key_list *list)
{
	free(list->keys);
}

/*
 * Programs add keys of the other epoch meanwhile. They hide no key of ours: a new element goes to
 * the front of its bucket, and nobody but us deletes any.
 */
static int list_keys(struct key_list *list, int fd, size_t size, uint32_t epoch,
		     bool (*is_of)(const void *key, uint32_t epoch))
{
	CLEANUP_FREE char *key = malloc(size);
	const char *previous = NULL;
	int err;

	if (!key)
		return -ENOMEM;
	while (!(err = bpf_map_get_next_key(fd, previous, key))) {
		previous = key;
		if (!is_of(key, epoch))
			continue;
		if (array__grow((void **)&list->keys, list->nr, &list->capacity, size))
			return -ENOMEM;
		memcpy(list->keys + list->nr++ * size, key, size);
	}
	return err == -ENOENT ? 0 : err;
}

static int clear_map(const struct bpf_map *map, uint32_t epoch,
		     bool (*is_of)(const void *key, uint32_t epoch))
{
	CLEANUP(key_list__release) struct key_list list = {0};
	size_t size = bpf_map__key_size(map);
	int fd = bpf_map__fd(map);
	int err = list_keys(&list, fd, size, epoch, is_of);

	for (size_t i = 0; i < list.nr && !err; i++)
		err = bpf_map_delete_elem(fd, list.keys + i * size);
	return err;
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
