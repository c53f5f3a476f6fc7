/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seen = counted + filtered + lost, exactly, in each epoch.
 *
 * One set of counters per CPU, so that CPUs do not share cache lines; added to
 * atomically all the same, since a program can be interrupted by another one
 * on its own CPU between a load and the store behind it.
 */
#ifndef TRACEKIT_BPF_ACCOUNTING_H
#define TRACEKIT_BPF_ACCOUNTING_H

#include "common.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NR_EPOCHS);
	__type(key, __u32);
	__type(value, struct event_counters);
} event_counters SEC(".maps");

/* The current epoch; only user space writes it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} epoch SEC(".maps");

static __always_inline __u32 read_epoch(void)
{
	__u32 zero = 0;
	const __u32 *current = bpf_map_lookup_elem(&epoch, &zero);

	return current ? READ_ONCE(*current) : EPOCH_NONE;
}

/* Read once for each event. */
static __always_inline __u32 current_epoch(void)
{
	return read_epoch() % NR_EPOCHS;
}

static __always_inline void count_event(__u32 in_epoch, enum event_counter which)
{
	struct event_counters *counters = bpf_map_lookup_elem(&event_counters, &in_epoch);

	if (counters)
		__sync_fetch_and_add(&counters->n[which & (NR_EVENT_COUNTERS - 1)], 1);
}

/* An event that was seen and is done with: its outcome, too. */
static __always_inline void count_seen_as(__u32 in_epoch, enum event_counter outcome)
{
	struct event_counters *counters = bpf_map_lookup_elem(&event_counters, &in_epoch);

	if (!counters)
		return;
	__sync_fetch_and_add(&counters->n[EVENTS_SEEN], 1);
	__sync_fetch_and_add(&counters->n[outcome & (NR_EVENT_COUNTERS - 1)], 1);
}

static __always_inline void count_new_key(__u32 in_epoch)
{
	struct event_counters *counters = bpf_map_lookup_elem(&event_counters, &in_epoch);

	if (counters)
		__sync_fetch_and_add(&counters->keys, 1);
}

static __always_inline void count_lost_weight(__u32 in_epoch, __u64 weight)
{
	struct event_counters *counters = bpf_map_lookup_elem(&event_counters, &in_epoch);

	if (counters)
		__sync_fetch_and_add(&counters->lost_weight, weight);
}

static __always_inline void count_walk(__u32 in_epoch, enum unwind_end end)
{
	struct event_counters *counters = bpf_map_lookup_elem(&event_counters, &in_epoch);

	if (counters)
		__sync_fetch_and_add(&counters->walks[end & (NR_UNWIND_ENDS - 1)], 1);
}

#endif
