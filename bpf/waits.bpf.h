/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * offcputime: count where threads wait, and how long: from sched_switch, where they leave their
 * CPU, until they come back.
 *
 * Two ways. Where the kernel has the tracepoint sched_exit_tp (seen on 6.18) a thread is walked
 * when it has come back: by then it is known how long it waited, and nobody waits for the walk.
 * Else it is walked when it leaves, in sched_switch, while its run queue is locked.
 *
 * All programs are for raw tracepoints: programs of perf events are passed over while a thread that
 * was preempted in a map of BPF is on their CPU. Interrupts are off at sched_switch, preemption is
 * at sched_exit_tp, so programs meet neither themselves nor each other on a CPU. What they know of
 * a thread needs no atomics: the scheduler orders what the CPU that a thread leaves has written
 * before what the next one reads.
 */
#ifndef TRACEKIT_BPF_WAITS_H
#define TRACEKIT_BPF_WAITS_H

#include "stack.bpf.h"

/* As many as user space expects threads. Entries stay until their threads have ended. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct off_thread);
} off_threads SEC(".maps");

static const struct off_thread never_off;

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h, since 3.4 */

/* The state of the thread that leaves; 0 if it could have run on. */
static __always_inline __u32 leaving_state(const struct bpf_raw_tracepoint_args *ctx)
{
	__u32 state = 0;

	if (config.waits.state_source == STATE_IN_ARGUMENT)
		state = (__u32)ctx->args[3];
	else if (config.waits.state_source == STATE_IN_TASK)
		state = read_u32(ctx->args[1] + config.waits.task_state);
	/* Preempted in the kernel: it can have any state, and runs on in any case. */
	return (__u8)ctx->args[0] ? 0 : state & ~(__u32)THREAD_NO_LOAD;
}

static __always_inline bool is_wanted_kind(__u64 task)
{
	bool of_kernel;

	if (config.waits.threads == THREADS_OF_ALL)
		return true;
	of_kernel = read_u32(task + config.waits.task_flags) & PF_KTHREAD;
	return of_kernel == (config.waits.threads == THREADS_OF_KERNEL);
}

/* NULL, and the reason in *outcome, if there is no room. */
static __always_inline struct off_thread *add_thread(__u64 task, enum event_counter *outcome)
{
	int err = map_insert(&off_threads, FILLABLE_THREADS, &task, &never_off);

	*outcome = err == -E2BIG ? EVENTS_LOST_THREADS_FULL : EVENTS_LOST_REFUSED;
	return bpf_map_lookup_elem(&off_threads, &task);
}

/* Walk the running thread: what it waits, or has waited, is counted by. waited: if it is known. */
static __always_inline void walk_thread(void *ctx, __u32 in_epoch, struct off_thread *thread,
					__u64 waited)
{
	struct scratch *scratch = claim_key(in_epoch, thread->key.tgid);

	thread->outcome = EVENTS_LOST_BUSY;
	if (!scratch)
		return;
	scratch->key.tid = thread->key.tid;
	scratch->weight = waited;
	thread->outcome =
		store_stacks(ctx, USER_WALK_FROM_KERNEL, scratch, unwind_kernel(ctx, scratch));
	thread->key = scratch->key;
	thread->first = scratch->first;
	scratch__release(scratch);
}

/*
 * The time, read once, when a thread is wanted; *now is 0 before. Where many threads are switched,
 * few of which are wanted, it is a good part of the cost.
 */
static __always_inline __u64 read_time(__u64 *now)
{
	if (!*now)
		*now = bpf_ktime_get_ns();
	return *now;
}

/*
 * The running thread leaves its CPU. That is an event of the epoch in which it comes back: seen
 * when its outcome is known.
 */
static __always_inline void note_leaving(struct bpf_raw_tracepoint_args *ctx, __u32 in_epoch,
					 __u64 *now)
{
	__u64 task = ctx->args[1];
	__u32 tgid, tid, state = 0;
	enum event_counter outcome = filter_current(&tgid, &tid);
	struct off_thread *thread;

	if (outcome == EVENTS_SEEN) {
		state = leaving_state(ctx);
		if (state & THREAD_DEAD || !is_wanted_kind(task))
			outcome = EVENTS_FILTERED;
	}
	if (outcome != EVENTS_SEEN) {
		count_seen_as(in_epoch, outcome);
		return;
	}
	read_time(now);
	thread = bpf_map_lookup_elem(&off_threads, &task);
	if (!thread)
		thread = add_thread(task, &outcome);
	if (!thread) {
		count_seen_as(in_epoch, outcome);
		return;
	}
	/* Nobody has told us that it came back. */
	if (thread->since)
		count_event(in_epoch, EVENTS_MISSED);
	thread->state = state;
	thread->key.tgid = tgid;
	thread->key.tid = tid;
	thread->since = *now;
	if (!config.waits.walk_at_return)
		walk_thread(ctx, in_epoch, thread, 0);
}

static __always_inline void note_return(void *ctx, __u32 in_epoch, __u64 task, __u64 *now)
{
	struct off_thread *thread = bpf_map_lookup_elem(&off_threads, &task);
	enum event_counter outcome;
	__u64 since, waited;

	if (!thread || !thread->since)
		return;
	since = thread->since;
	/* Clocks of two CPUs can differ by some nanoseconds. */
	waited = read_time(now) > since ? *now - since : 0;
	thread->since = 0;
	if (!wait_config__wants(&config.waits, thread->state, waited)) {
		count_seen_as(in_epoch, EVENTS_FILTERED);
		return;
	}
	if (config.waits.walk_at_return)
		walk_thread(ctx, in_epoch, thread, waited);
	outcome = thread->outcome;
	/* Its stacks can be of an earlier epoch: user space keeps them (core/trace/epochs.c). */
	thread->key.epoch = in_epoch;
	if (outcome == EVENTS_COUNTED)
		outcome = count_key(&thread->key, &thread->first, waited);
	if (outcome != EVENTS_COUNTED && outcome != EVENTS_LATER)
		count_lost_weight(in_epoch, waited);
	count_seen_as(in_epoch, outcome);
}

/* At sched_switch: from the leaving thread to the next, both at the same time. */
SEC("?raw_tp")
int waits_switch(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 in_epoch = read_epoch();
	__u64 now = 0;

	if (in_epoch >= NR_EPOCHS)
		return 0;
	note_return(ctx, in_epoch, ctx->args[2], &now);
	note_leaving(ctx, in_epoch, &now);
	return 0;
}

SEC("?raw_tp")
int waits_leave(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 in_epoch = read_epoch();
	__u64 now = 0;

	if (in_epoch < NR_EPOCHS)
		note_leaving(ctx, in_epoch, &now);
	return 0;
}

/* At sched_exit_tp. The argument is a bool: the thread had left its CPU. */
SEC("?raw_tp")
int waits_return(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 in_epoch = read_epoch();
	__u64 now = 0;

	if ((__u8)ctx->args[0] && !is_of_another() && in_epoch < NR_EPOCHS)
		note_return(ctx, in_epoch, bpf_get_current_task(), &now);
	return 0;
}

/*
 * At sched_process_free, behind the last switch of a thread: another one will have its place. Where
 * states are not told it is known only now that this one left for good.
 */
SEC("?raw_tp")
int waits_forget(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 task = ctx->args[0];
	const struct off_thread *thread = bpf_map_lookup_elem(&off_threads, &task);
	__u32 in_epoch = read_epoch();

	if (!thread || in_epoch >= NR_EPOCHS)
		return 0;
	if (thread->since)
		count_seen_as(in_epoch, EVENTS_FILTERED);
	bpf_map_delete_elem(&off_threads, &task);
	return 0;
}

#endif
