/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of tracekit itself, which are left out. They write their own PIDs here, by mmap(),
 * as some have no privileges; when a process ends, the kernel takes its PID out, so nobody who gets
 * this PID next is left out.
 */
#ifndef TRACEKIT_BPF_OWN_H
#define TRACEKIT_BPF_OWN_H

#include "common.bpf.h"
#include "config.bpf.h"
#include "task.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, OWN_BUCKETS);
	__type(key, __u32);
	__type(value, struct own_bucket);
} own SEC(".maps");

/* Where tgid, of the caller's PID namespace, stands; NULL: it is not one of ours. */
static __always_inline __u32 *find_own(__u32 tgid)
{
	__u32 number = tgid % OWN_BUCKETS;
	struct own_bucket *bucket = bpf_map_lookup_elem(&own, &number);

	for (__u32 i = 0; bucket && i < OWN_BUCKET; i++)
		if (bucket->pids[i] == tgid)
			return &bucket->pids[i];
	return NULL;
}

/* In each thread that ends: those of ours have one. */
SEC("?raw_tp")
int forget_own(void *ctx __attribute__((unused)))
{
	__u32 tgid, tid;
	__u32 *place;

	if (!current_ids(&tgid, &tid) || tgid != tid)
		return 0;
	place = find_own(tgid);
	if (place)
		*place = 0;
	return 0;
}

#endif
