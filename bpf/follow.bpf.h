/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes descend from those that are traced: a byte for each PID, which is set when a task
 * is born, for all others as well. So a PID that is used again is right from its birth, and nobody
 * has to hear of ends. The numbers are those of the initial PID namespace.
 *
 * The hook is sched:sched_wakeup_new, in the context of the parent, before the task can run. The
 * run queue is locked there, so nothing preempts the program: elsewhere, from 7.0 on, a raw one is
 * passed over for a task while another is preempted in it.
 */
#ifndef TRACEKIT_BPF_FOLLOW_H
#define TRACEKIT_BPF_FOLLOW_H

#include "common.bpf.h"
#include "config.bpf.h"
#include "task.bpf.h"

/* User space writes it as well, by mmap(). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FOLLOWED_CHUNKS);
	__type(key, __u32);
	__type(value, struct followed_chunk);
} followed SEC(".maps");

/* -p or -L; resized to the number of IDs between open and load. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u8);
} targets SEC(".maps");

static __always_inline __u8 *followed_byte(__u32 pid)
{
	__u32 number = pid / FOLLOWED_CHUNK;
	struct followed_chunk *chunk = bpf_map_lookup_elem(&followed, &number);

	return chunk ? &chunk->pids[pid % FOLLOWED_CHUNK] : NULL;
}

static __always_inline __u32 current_kernel_tgid(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

/* tgid: the running process in the caller's PID namespace, where user space knows the first ones.
 */
static __always_inline bool is_followed(__u32 tgid)
{
	const __u8 *byte = followed_byte(current_kernel_tgid());

	if (byte && *byte)
		return true;
	return config.pidns_ino && !config.workload && bpf_map_lookup_elem(&targets, &tgid);
}

static __always_inline int follow(__u32 child)
{
	__u32 tgid = 0, tid;
	__u8 *byte = followed_byte(child);

	if (config.pidns_ino)
		current_ids(&tgid, &tid);
	if (byte)
		*byte = is_followed(tgid);
	return 0;
}

SEC("?raw_tp")
int follow_raw_wakeup_new(struct bpf_raw_tracepoint_args *ctx)
{
	return follow(read_u32(ctx->args[0] + config.task.task_pid));
}

/*
 * Without BTF nobody knows where a task has its PID: from the record of task:task_newtask, which
 * begins with it behind the fields that all have.
 */
SEC("?tp")
int follow_perf_newtask(void *ctx)
{
	return follow(*(const __u32 *)(ctx + 8));
}

/*
 * It fires when exec() has succeeded, before the first instruction: what the process has done until
 * then, while it was held, is not counted.
 */
SEC("?raw_tp")
int follow_raw_exec(void *ctx __attribute__((unused)))
{
	__u8 *byte = followed_byte(current_kernel_tgid());
	__u32 tgid, tid;

	if (byte && current_ids(&tgid, &tid) && tgid == config.workload)
		*byte = true;
	return 0;
}

#endif
