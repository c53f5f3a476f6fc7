/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All elements of a BPF hash map, read and deleted with few system calls (Linux 5.6). */
#ifndef TRACEKIT_CORE_KERNEL_HASH_MAP_H
#define TRACEKIT_CORE_KERNEL_HASH_MAP_H

#include <stddef.h>

struct bpf_map;

/*
 * Called for an element; both are valid during the call. Returns 0, or a negative errno that ends
 * the reading.
 */
typedef int (*hash_map_take)(void *context, const void *key, const void *value);

/*
 * Tell of each element once, as long as nobody else deletes any. Of those that programs add
 * meanwhile some are told of. Returns 0 or a negative errno.
 */
int hash_map__read(const struct bpf_map *map, hash_map_take take, void *context);

/* Delete nr elements, which are there, by their keys. Returns 0 or a negative errno. */
int hash_map__delete(const struct bpf_map *map, const void *keys, size_t nr);

#endif
