/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * New elements of hash maps that can be full. The kernel then looks for a free element in the list
 * of every CPU that there can be, with interrupts off, each time. So who finds a map full says so,
 * and nobody tries again for a millisecond, in which user space may have made room.
 */
#ifndef TRACEKIT_BPF_INSERT_H
#define TRACEKIT_BPF_INSERT_H

#include <linux/errno.h>

#include "common.bpf.h"
#include "compat.bpf.h"

#define FULL_NS 1000000

enum fillable {
	FILLABLE_STACKS,
	FILLABLE_COUNTS,
	FILLABLE_FILES,
	FILLABLE_BASES,
	FILLABLE_THREADS
};

/* Until when nobody tries, by CLOCK_MONOTONIC; 0: it has never been full. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FILLABLE_THREADS + 1);
	__type(key, __u32);
	__type(value, __u64);
} full_until SEC(".maps");

/* As map_update() of a key that was not there a moment ago; -E2BIG if the map is full. */
static __always_inline int map_insert(void *map, enum fillable which, const void *key,
				      const void *value)
{
	__u32 index = which;
	__u64 *until = bpf_map_lookup_elem(&full_until, &index);
	int err;

	if (!until || (READ_ONCE(*until) && bpf_ktime_get_ns() < READ_ONCE(*until)))
		return -E2BIG;
	err = map_update(map, key, value, BPF_NOEXIST);
	if (err == -E2BIG)
		*until = bpf_ktime_get_ns() + FULL_NS;
	return err;
}

#endif
