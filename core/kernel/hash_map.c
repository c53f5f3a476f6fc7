// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/hash_map.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "sym/util/cleanup.h"

/* Memory for the elements that one call reads. */
#define BATCH_BYTES ((size_t)64 * 1024)

struct reading {
	int fd;
	size_t key_size, value_size;
	uint32_t capacity; /* elements that keys and values have room for */
	char *keys, *values;
	uint32_t place; /* in the map, where the next call goes on */
	bool begun;
};

static void release(struct reading *reading)
{
	free(reading->keys);
	free(reading->values);
}

static int make_room(struct reading *reading, size_t capacity)
{
	release(reading);
	reading->keys = malloc(capacity * reading->key_size);
	reading->values = malloc(capacity * reading->value_size);
	reading->capacity = (uint32_t)capacity;
	return reading->keys && reading->values ? 0 : -ENOMEM;
}

/* Returns 0, -ENOENT if these were the last, or another negative errno. */
static int read_some(struct reading *reading, uint32_t *nr)
{
	uint32_t next;
	int err;

	for (;;) {
		*nr = reading->capacity;
		err = bpf_map_lookup_batch(reading->fd, reading->begun ? &reading->place : NULL,
					   &next, reading->keys, reading->values, nr, NULL);
		/* Elements with one hash are read together. */
		if (err != -ENOSPC)
			break;
		err = make_room(reading, (size_t)reading->capacity * 2);
		if (err)
			return err;
	}
	reading->place = next;
	reading->begun = true;
	return err;
}

int hash_map__read(const struct bpf_map *map, hash_map_take take, void *context)
{
	CLEANUP(release)
	struct reading reading = {.fd = bpf_map__fd(map),
				  .key_size = bpf_map__key_size(map),
				  .value_size = bpf_map__value_size(map)};
	int end = 0,
	    err = make_room(&reading, BATCH_BYTES / (reading.key_size + reading.value_size) + 1);

	while (!err && !end) {
		uint32_t nr = 0;

		end = read_some(&reading, &nr);
		if (end && end != -ENOENT)
			return end;
		for (uint32_t i = 0; i < nr && !err; i++)
			err = take(context, reading.keys + i * reading.key_size,
				   reading.values + i * reading.value_size);
	}
	return err;
}

int hash_map__delete(const struct bpf_map *map, const void *keys, size_t nr)
{
	uint32_t count = (uint32_t)nr;

	return nr ? bpf_map_delete_batch(bpf_map__fd(map), keys, &count, NULL) : 0;
}
