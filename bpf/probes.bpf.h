/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs that probes of all kinds run, for applets that trace events. An
 * applet defines claim_event() and end_event() before it includes this. core/probe/attach.c
 * finds the programs by their names, has those loaded that are needed, and attaches them.
 */
#ifndef TRACEKIT_BPF_PROBES_H
#define TRACEKIT_BPF_PROBES_H

#include "accounting.bpf.h"
#include "arch.bpf.h"
#include "common.bpf.h"
#include "config.bpf.h"
#include "filter.bpf.h"
#include "scratch.bpf.h"
#include "unwind.bpf.h"

/* The applet defines both. A slot with all of an event but its stacks; NULL if all are in use. */
static __always_inline struct scratch *claim_event(__u32 in_epoch, __u32 tgid, __u32 tid);
/* The rest, in this slot. walked: the result of unwind_kernel(). */
static __always_inline void end_event(void *ctx, enum user_walk user_walk, struct scratch *scratch,
				      bool walked);

/* An event: its slot, if it is wanted; NULL: it is done with. */
static __noinline struct scratch *begin_event(void)
{
	__u32 in_epoch = current_epoch();
	enum event_counter outcome;
	struct scratch *scratch;
	__u32 tgid, tid;

	count_event(in_epoch, EVENTS_SEEN);
	outcome = filter_current(&tgid, &tid);
	if (outcome == EVENTS_SEEN) {
		scratch = claim_event(in_epoch, tgid, tid);
		if (scratch)
			return scratch;
		outcome = EVENTS_LOST_BUSY;
	}
	count_event(in_epoch, outcome);
	return NULL;
}

/* The whole handling of an event. */
static __always_inline void on_event(void *ctx, enum user_walk user_walk)
{
	struct scratch *scratch = begin_event();

	if (scratch)
		end_event(ctx, user_walk, scratch, unwind_kernel(ctx, scratch));
}

/* For events of threads in the kernel: one function for all programs of an object. */
static __noinline int end_event_in_kernel(void *ctx, struct scratch *scratch, bool walked)
{
	end_event(ctx, USER_WALK_FROM_KERNEL, scratch, walked);
	return 0;
}

static __always_inline int on_event_in_kernel(void *ctx)
{
	struct scratch *scratch = begin_event();

	if (scratch)
		end_event_in_kernel(ctx, scratch, unwind_kernel(ctx, scratch));
	return 0;
}

static __always_inline bool system_call_set__has(const volatile struct system_call_set *set,
						 __u64 number)
{
	return number < SYSTEM_CALLS &&
	       set->bits[number / 64 % ARRAY_SIZE(set->bits)] >> (number % 64) & 1;
}

/* A kprobe, or many by one link of the type kprobe.multi. */
SEC("?kprobe")
int probe_kernel_function(void *ctx)
{
	return on_event_in_kernel(ctx);
}

/* User functions and USDT probes: one uprobe, or many by one link of the type uprobe.multi. */
SEC("?kprobe")
int probe_user_code(void *ctx)
{
	if (config.at_function_entry)
		on_event(ctx, USER_WALK_FROM_FUNCTION_ENTRY);
	else
		on_event(ctx, USER_WALK_FROM_WITHIN);
	return 0;
}

SEC("?raw_tp")
int probe_raw_tracepoint(void *ctx)
{
	return on_event_in_kernel(ctx);
}

/*
 * Tracepoints by perf: slow to detach, but needed where the kernel's code has no such tracepoint,
 * and on kernels that preempt raw tracepoints (core/kernel/links.h).
 */
SEC("?tp")
int probe_perf_tracepoint(void *ctx)
{
	return on_event_in_kernel(ctx);
}

static __always_inline void on_system_call(void *ctx, const volatile struct system_call_set *set,
					   const void *kernel_regs)
{
	if (system_call_set__has(set, system_call_number(kernel_regs)))
		on_event_in_kernel(ctx);
}

/*
 * The tracepoints syscalls:* are made of raw_syscalls:sys_enter and sys_exit by
 * the kernel's tracing, one for each call; here any number of them are one link.
 */
SEC("?raw_tp/sys_enter")
int probe_sys_enter(struct bpf_raw_tracepoint_args *ctx)
{
	on_system_call(ctx, &config.entered_calls, (const void *)ctx->args[0]);
	return 0;
}

SEC("?raw_tp/sys_exit")
int probe_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	on_system_call(ctx, &config.left_calls, (const void *)ctx->args[0]);
	return 0;
}

/* The same by perf events, for kernels that have bpf_task_pt_regs() (5.15) and BTF. */
SEC("?tp")
int probe_perf_sys_enter(void *ctx)
{
	on_system_call(ctx, &config.entered_calls,
		       (const void *)bpf_task_pt_regs(bpf_get_current_task_btf()));
	return 0;
}

SEC("?tp")
int probe_perf_sys_exit(void *ctx)
{
	on_system_call(ctx, &config.left_calls,
		       (const void *)bpf_task_pt_regs(bpf_get_current_task_btf()));
	return 0;
}

#endif
