/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seen = counted + filtered + lost, exactly.
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
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct event_counters);
} event_counters SEC(".maps");

static __always_inline void count_event(enum event_counter which)
{
	__u32 zero = 0;
	struct event_counters *counters = bpf_map_lookup_elem(&event_counters, &zero);

	if (counters)
		__sync_fetch_and_add(&counters->n[which & (NR_EVENT_COUNTERS - 1)], 1);
}

#endif
