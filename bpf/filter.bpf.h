/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which events an applet wants: decided first, before anything is walked. */
#ifndef TRACEKIT_BPF_FILTER_H
#define TRACEKIT_BPF_FILTER_H

#include "common.bpf.h"
#include "config.bpf.h"

/* -p; resized to the number of PIDs between open and load. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u8);
} target_tgids SEC(".maps");

/*
 * EVENTS_SEEN if the running thread is wanted, then *tgid is its process in
 * the caller's PID namespace; else the counter of what filtered it.
 *
 * In a PID namespace of its own the caller sees what
 * bpf_get_ns_current_pid_tgid() finds: processes of that very namespace, not of
 * those below it. The idle task is in none, and told by its host PID before.
 */
static __always_inline enum event_counter filter_current(__u32 *tgid)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	*tgid = pid_tgid >> 32;
	if ((__u32)pid_tgid == 0) {
		if (config.skip_idle)
			return EVENTS_FILTERED;
	} else if (config.pidns_ino) {
		struct bpf_pidns_info ns;

		if (bpf_get_ns_current_pid_tgid(config.pidns_dev, config.pidns_ino, &ns,
						sizeof(ns)))
			return EVENTS_FILTERED_PIDNS;
		*tgid = ns.tgid;
	}
	if (config.filter_tgid) {
		/* A copy on the stack: on 5.10 a map key may not be read from elsewhere. */
		__u32 key = *tgid;

		if (!bpf_map_lookup_elem(&target_tgids, &key))
			return EVENTS_FILTERED;
	}
	return EVENTS_SEEN;
}

#endif
