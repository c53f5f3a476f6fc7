/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a context to the frames of a stack: the only file that knows how stacks
 * are walked. Both functions fill a struct stack with tagged frames, leaf
 * first, and put a marker at its root end if there was more.
 *
 * bpf_get_stack() follows the kernel's own unwinder, and frame pointers in user
 * space. It returns at most kernel.perf_event_max_stack frames and does not say
 * whether there were more, so we ask for one frame more than we keep. Where the
 * sysctl is at its default of 127 that is refused, and a stack that fills it is
 * taken for a cut one: a whole stack of exactly 127 frames is then marked too.
 */
#ifndef TRACEKIT_BPF_UNWIND_H
#define TRACEKIT_BPF_UNWIND_H

#include "common.bpf.h"
#include "config.bpf.h"

/* False if the kernel's buffer for call chains is in use on this CPU (-EFAULT). */
static __always_inline bool unwind__get_stack(void *ctx, struct stack *stack, __u64 flags)
{
	long bytes = bpf_get_stack(ctx, stack->frames, sizeof(stack->frames), flags);

	if (bytes < 0)
		return false;
	stack->nr = (__u32)bytes / sizeof(stack->frames[0]);
	return true;
}

static __always_inline void unwind__mark_cut(struct stack *stack)
{
	if (stack->nr >= config.max_frames) {
		/* max_frames is 1 to STACK_SLOTS; the mask is for the verifier. */
		__u32 kept = (config.max_frames > MAX_FRAMES ? MAX_FRAMES : config.max_frames) &
			     (STACK_SLOTS - 1);

		stack->frames[kept] = frame_mark(MARK_CUT, kept);
		stack->nr = kept + 1;
	}
}

static __always_inline bool unwind_kernel(void *ctx, struct stack *stack)
{
	if (!unwind__get_stack(ctx, stack, 0))
		return false;
	unwind__mark_cut(stack);
	return true;
}

static __always_inline bool unwind_user(void *ctx, struct stack *stack)
{
	if (!unwind__get_stack(ctx, stack, BPF_F_USER_STACK))
		return false;
	for (__u32 i = 0; i < STACK_SLOTS; i++) {
		__u64 frame = stack->frames[i];

		if (i >= READ_ONCE(stack->nr))
			break;
		/* 0 for what is not a user address (abi.h); a branch would double the states. */
		stack->frames[i] = frame & (__s64)((__u64)frame_tag(frame) - 1) >> 63;
	}
	unwind__mark_cut(stack);
	return true;
}

#endif
