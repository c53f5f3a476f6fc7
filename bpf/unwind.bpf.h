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

#include "arch.bpf.h"
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

/* A walk that found most frames, the most that it could find, was perhaps not at the root. */
static __always_inline void unwind__mark_cut(struct stack *stack, __u32 most)
{
	if (stack->nr >= most) {
		/* most is 1 to STACK_SLOTS; the mask is for the verifier. */
		__u32 kept = (most > MAX_FRAMES ? MAX_FRAMES : most) & (STACK_SLOTS - 1);

		stack->frames[kept] = frame_mark(MARK_CUT, kept);
		stack->nr = kept + 1;
	}
}

/* 0 for what is not a user address (abi.h); a branch would double the verifier's states. */
static __always_inline __u64 unwind__user_frame(__u64 address)
{
	return address & (__s64)((__u64)frame_tag(address) - 1) >> 63;
}

static __always_inline bool unwind_kernel(void *ctx, struct stack *stack)
{
	if (!unwind__get_stack(ctx, stack, 0))
		return false;
	unwind__mark_cut(stack, config.max_frames);
	return true;
}

static __always_inline bool unwind__user_by_kernel(void *ctx, struct stack *stack)
{
	/* Kernels take all idle tasks but the first for programs, and fail (seen on 6.18). */
	if (is_idle()) {
		stack->nr = 0;
		return true;
	}
	if (!unwind__get_stack(ctx, stack, BPF_F_USER_STACK))
		return false;
	for (__u32 i = 0; i < STACK_SLOTS; i++) {
		if (i >= READ_ONCE(stack->nr))
			break;
		stack->frames[i] = unwind__user_frame(stack->frames[i]);
	}
	unwind__mark_cut(stack, config.max_frames);
	return true;
}

/* What a function that keeps a frame pointer has on the stack, on x86-64 and arm64. */
struct frame_record {
	__u64 caller; /* the frame pointer of the calling function */
	__u64 return_address;
};

/*
 * A part of a user stack that was read at once: a helper call for each frame would
 * take longer than all the rest of an event, 0.1 us each.
 */
#define WINDOW_WORDS 64
#define USER_PAGE    4096 /* or larger */

struct stack_window {
	__u64 start;  /* its address */
	__u64 last;   /* the largest offset that a whole record has in it */
	__u64 number; /* of the window, for read_stack_window() */
	__u64 words[WINDOW_WORDS + 1];
};

/* From address on, to the end of its page at most: what is behind may not be mapped. */
static __always_inline bool stack_window__read(struct stack_window *window, __u64 address)
{
	__u32 bytes = USER_PAGE - address % USER_PAGE;

	if (bytes > WINDOW_WORDS * sizeof(__u64))
		bytes = WINDOW_WORDS * sizeof(__u64);
	if (bytes < sizeof(struct frame_record))
		bytes = sizeof(struct frame_record);
	window->start = address;
	window->last = bytes - sizeof(struct frame_record);
	return !bpf_probe_read_user(window->words, bytes, (const void *)address);
}

/*
 * The same of the window with this number; defined where the windows are (stack.bpf.h),
 * as a global function, which is verified once instead of once for each frame. 0 if
 * there is nothing at address.
 */
int read_stack_window(__u32 number, __u64 address);

static __always_inline bool stack_window__get(struct stack_window *window, __u64 address,
					      struct frame_record *record)
{
	__u64 offset = address - window->start;

	if (offset > window->last || offset % sizeof(__u64)) {
		if (!read_stack_window(window->number, address))
			return false;
		offset = 0;
	}
	/* It is below; the mask is for the verifier. */
	offset = offset / sizeof(__u64) & (WINDOW_WORDS - 1);
	record->caller = window->words[offset];
	record->return_address = window->words[offset + 1];
	return true;
}

/* Where the thread is when its user stack is walked. */
enum user_walk {
	USER_WALK_FROM_ANYWHERE,       /* the context is of any type */
	USER_WALK_FROM_KERNEL,	       /* in the kernel; likewise */
	USER_WALK_FROM_WITHIN,	       /* in a function; the context is a struct pt_regs */
	USER_WALK_FROM_FUNCTION_ENTRY, /* at its first instruction; likewise */
};

/* What a walk by us needs beside the stack that it fills. */
struct user_walker {
	struct stack_window window;
	user_regs regs;
};

/*
 * By the frame pointers, as the kernel does, but without its buffers, which another
 * thread overwrites when this one is preempted between its walk and its copy; and in
 * less time, since the stack is read in pieces.
 *
 * At its first instruction a function has not set up its frame yet: the frame
 * pointer is that of its caller, so whoever follows it, as the kernel did before
 * 6.12 (cfa7f3d2c526) and does since but for some first instructions, loses the
 * caller. But the return address is known.
 */
static __always_inline void unwind__user_by_us(const user_regs *regs, enum user_walk walk,
					       struct stack *stack, struct stack_window *window)
{
	__u64 next = user_regs__frame_pointer(regs);
	struct frame_record record;
	__u32 first = 1;

	stack->frames[0] = unwind__user_frame(user_regs__pc(regs));
	stack->nr = 1;
	if (walk == USER_WALK_FROM_FUNCTION_ENTRY) {
		if (!user_regs__return_address(regs, &record.return_address))
			return;
		stack->frames[1] = unwind__user_frame(record.return_address);
		stack->nr = ++first;
	}
	/* What the last event left in the window is another stack. */
	if (!read_stack_window(window->number, next))
		return;
	for (__u32 i = first; i < STACK_SLOTS; i++) {
		if (!stack_window__get(window, next, &record))
			break;
		stack->frames[i] = unwind__user_frame(record.return_address);
		stack->nr = i + 1;
		next = record.caller;
	}
	unwind__mark_cut(stack, STACK_SLOTS);
}

/*
 * With what registers the running thread came into the kernel. False if it is a thread
 * of the kernel, which has 0 there, or a 32-bit one.
 */
static __always_inline bool unwind__user_regs(user_regs *regs)
{
	const void *saved = (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	return !bpf_probe_read_kernel(regs, sizeof(*regs), saved) && user_regs__is_64bit(regs) &&
	       user_regs__pc(regs);
}

static __always_inline bool unwind_user(void *ctx, enum user_walk walk, struct stack *stack,
					struct user_walker *walker)
{
	const user_regs *regs = NULL;

	if (walk == USER_WALK_FROM_KERNEL) {
		if (config.has_task_pt_regs && unwind__user_regs(&walker->regs))
			regs = &walker->regs;
	} else if (walk != USER_WALK_FROM_ANYWHERE && user_regs__is_64bit(ctx)) {
		regs = ctx;
	}
	if (!regs)
		return unwind__user_by_kernel(ctx, stack);
	unwind__user_by_us(regs, walk, stack, &walker->window);
	return true;
}

#endif
