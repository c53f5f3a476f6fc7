/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events an applet wants: decided first, before anything is walked.
 *
 * Maps that no option asks for are not created: user space switches them off,
 * and the branches that use them are dead code to the verifier.
 */
#ifndef TRACEKIT_BPF_FILTER_H
#define TRACEKIT_BPF_FILTER_H

#include "common.bpf.h"
#include "config.bpf.h"
#include "follow.bpf.h"
#include "own.bpf.h"
#include "task.bpf.h"

/* --cgroupmap, --mntnsmap: the user's own maps come in place of these; only their keys matter. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u8);
} cgroup_ids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u8);
} mount_namespaces SEC(".maps");

/* --cgroup */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cgroup SEC(".maps");

static __always_inline bool in_wanted_groups(void)
{
	if (config.filter_cgroup_ids) {
		__u64 id = bpf_get_current_cgroup_id();

		if (!bpf_map_lookup_elem(&cgroup_ids, &id))
			return false;
	}
	if (config.filter_cgroup && bpf_current_task_under_cgroup(&cgroup, 0) != 1)
		return false;
	if (config.filter_mount_namespaces) {
		__u64 inode = current_mount_namespace();

		if (!bpf_map_lookup_elem(&mount_namespaces, &inode))
			return false;
	}
	return true;
}

static __always_inline bool has_wanted_name(void)
{
	char comm[COMM_LEN] = {};
	__u32 states = 1;

	bpf_get_current_comm(comm, sizeof(comm));
#pragma clang loop unroll(disable)
	for (int i = 0; i < COMM_LEN; i++) {
		__u8 byte = (__u8)comm[i];

		if (byte == 0)
			break;
		states = (states << 1 & config.comm.accepts[byte]) | (states & config.comm.stays);
	}
	return states & config.comm.end;
}

/* True if the running thread is not wanted, where that is known for less than a look-up costs. */
static __always_inline bool is_of_another(void)
{
	return config.only_tgid && config.only_tgid != current_kernel_tgid();
}

/*
 * EVENTS_SEEN if the running thread is wanted; then *tgid is its process and *tid its own ID, in
 * the caller's PID namespace. Else the counter of the filter that refused it.
 */
static __always_inline enum event_counter filter_current(__u32 *tgid, __u32 *tid)
{
	bool idle = is_idle();

	*tgid = 0;
	*tid = 0;
	if (is_of_another())
		return EVENTS_FILTERED;
	if (config.cpu != ALL_CPUS && config.cpu != bpf_get_smp_processor_id())
		return EVENTS_FILTERED;
	if ((idle && config.skip_idle) || !in_wanted_groups())
		return EVENTS_FILTERED;
	if (config.filter_comm && !has_wanted_name())
		return EVENTS_FILTERED;
	if (!idle && !current_ids(tgid, tid))
		return config.filter_by ? EVENTS_FILTERED : EVENTS_FILTERED_PIDNS;
	if (config.filter_by == FILTER_BY_FOLLOWED) {
		if (!is_followed(*tgid))
			return EVENTS_FILTERED;
	} else if (config.filter_by && !config.only_tgid) {
		/* A copy on the stack: on 5.10 a map key may not be read from elsewhere. */
		__u32 key = config.filter_by == FILTER_BY_TGID ? *tgid : *tid;

		if (!bpf_map_lookup_elem(&targets, &key))
			return EVENTS_FILTERED;
	}
	/* Places that are free hold 0, as does the idle task. */
	return config.skip_own && !idle && find_own(*tgid) ? EVENTS_FILTERED : EVENTS_SEEN;
}

#endif
