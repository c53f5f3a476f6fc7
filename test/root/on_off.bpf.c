// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What offcputime runs at each switch, and beside it, by the same reading of the clock, how long
 * each thread runs: see on_off.c.
 */
#include "test/root/on_off.h"
#include "bpf/stack.bpf.h"
#include "bpf/waits.bpf.h"

/* By TID: the kernel gives the place of a thread that has ended to another one. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct on_time);
} on_times SEC(".maps");

/* When the thread at this place came back to a CPU; 0: it has not. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u64);
} came SEC(".maps");

static const struct on_time none;

static __always_inline void runs(__u64 task, __u64 now)
{
	__u64 *since = bpf_map_lookup_elem(&came, &task);

	if (since)
		*since = now;
}

/* The running thread leaves. */
static __always_inline void runs_no_more(__u64 task, __u64 now)
{
	__u64 *since = bpf_map_lookup_elem(&came, &task), zero = 0;
	struct on_time *time;
	__u32 tgid, tid;

	if (filter_current(&tgid, &tid) != EVENTS_SEEN)
		return;
	time = bpf_map_lookup_elem(&on_times, &tid);
	if (!time) {
		map_update(&on_times, &tid, &none, BPF_NOEXIST);
		time = bpf_map_lookup_elem(&on_times, &tid);
		if (!time)
			return;
		time->tid = tid;
		time->first = now;
	} else if (since && *since) {
		time->on += now - *since;
	} else {
		time->missed++;
	}
	map_update(&came, &task, &zero, BPF_ANY);
	time->last = now;
	time->switches++;
}

SEC("?raw_tp")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 in_epoch = read_epoch();

	if (in_epoch >= NR_EPOCHS)
		return 0;
	runs_no_more(ctx->args[1], now);
	runs(ctx->args[2], now);
	note_return(ctx, in_epoch, ctx->args[2], &now);
	note_leaving(ctx, in_epoch, &now);
	return 0;
}

SEC("?raw_tp")
int on_leave(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 in_epoch = read_epoch();

	if (in_epoch >= NR_EPOCHS)
		return 0;
	runs_no_more(ctx->args[1], now);
	note_leaving(ctx, in_epoch, &now);
	return 0;
}

SEC("?raw_tp")
int on_return(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 now = bpf_ktime_get_ns(), task = bpf_get_current_task();
	__u32 in_epoch = read_epoch();

	if (!(__u8)ctx->args[0] || in_epoch >= NR_EPOCHS)
		return 0;
	runs(task, now);
	note_return(ctx, in_epoch, task, &now);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
