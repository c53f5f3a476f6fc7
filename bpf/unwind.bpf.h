/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a context to the frames of a stack: the only file that knows how stacks
 * are walked. Both functions fill the stack of a claimed slot with tagged frames, leaf
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

#include "accounting.bpf.h"
#include "arch.bpf.h"
#include "common.bpf.h"
#include "config.bpf.h"
#include "scratch.bpf.h"
#include "stack_window.bpf.h"
#include "walk.bpf.h"

/* False if the kernel's buffer for call chains is in use on this CPU (-EFAULT). */
static __always_inline bool unwind__get_stack(void *ctx, struct stack *stack, __u64 flags)
{
	long bytes = bpf_get_stack(ctx, stack->frames, KERNEL_SLOTS * sizeof(__u64), flags);

	if (bytes < 0)
		return false;
	stack->nr = (__u32)bytes / sizeof(stack->frames[0]);
	return true;
}

/* Behind the first nr frames, or in the place of what is there. */
static __always_inline void unwind__put_mark(struct stack *stack, __u32 nr, enum frame_mark kind,
					     __u32 argument)
{
	if (nr < STACK_SLOTS) {
		stack->frames[nr] = frame_mark(kind, argument);
		stack->nr = nr + 1;
	}
}

/* A walk that found most frames, the most that it could find, was perhaps not at the root. */
static __always_inline void unwind__mark_cut(struct stack *stack, __u32 most, __u32 wanted)
{
	__u32 nr = READ_ONCE(stack->nr), kept = most > wanted ? wanted : most;

	if (nr >= most || nr > wanted)
		unwind__put_mark(stack, kept, MARK_CUT, kept);
}

static __always_inline bool unwind_kernel(void *ctx, struct scratch *scratch)
{
	if (!unwind__get_stack(ctx, &scratch->stack, 0))
		return false;
	unwind__mark_cut(&scratch->stack, config.max_frames, config.max_depth);
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
	for (__u32 i = 0; i < KERNEL_SLOTS; i++) {
		if (i >= READ_ONCE(stack->nr))
			break;
		stack->frames[i] = walk__user_frame(stack->frames[i]);
	}
	unwind__mark_cut(stack, config.max_frames, config.max_user_depth);
	return true;
}

/* Where the thread is when its user stack is walked. */
enum user_walk {
	USER_WALK_FROM_SAMPLE,	       /* anywhere; the context is a struct bpf_perf_event_data */
	USER_WALK_FROM_KERNEL,	       /* in the kernel; the context is of any type */
	USER_WALK_FROM_WITHIN,	       /* in a function; the context is a struct pt_regs */
	USER_WALK_FROM_FUNCTION_ENTRY, /* at its first instruction; likewise */
};

/*
 * By the frame pointers, as the kernel does, but without its buffers, which another
 * thread overwrites when this one is preempted between its walk and its copy; and in
 * less time, since the stack is read in pieces. What a function that keeps a frame pointer
 * has on the stack is the frame pointer of its caller, and the return address (x86-64, arm64).
 */
__noinline int walk_frame_pointers(__u32 number)
{
	struct scratch *scratch = scratch__find(number);
	struct stack *stack;

	if (!scratch)
		return 0;
	stack = &scratch->stack;
	for (__u32 i = 1; i < STACK_SLOTS; i++) {
		__u32 nr = READ_ONCE(stack->nr); /* a walk by tables may have come so far */

		if (nr >= STACK_SLOTS || nr > config.max_user_depth ||
		    !follow_frame_pointer(number))
			break;
		stack->frames[nr] = walk__user_frame(scratch->walk.pc);
		stack->nr = nr + 1;
	}
	return 0;
}

/* How a walk by tables has ended is said where it is not complete, and counted. */
static __always_inline void unwind__note_end(struct scratch *scratch, enum unwind_end end)
{
	struct stack *stack = &scratch->stack;
	__u32 nr;

	/* What a walk without tables finds is better than nothing, as long as that is said. */
	if (end == UNWIND_TABLES_MISSING && config.frame_pointers)
		walk_frame_pointers(scratch->number);
	nr = READ_ONCE(stack->nr);
	if (nr > config.max_user_depth)
		nr = config.max_user_depth;
	if (end == UNWIND_CUT)
		unwind__put_mark(stack, nr, MARK_CUT, nr);
	else if (end > UNWIND_CUT)
		unwind__put_mark(stack, nr, MARK_STOPPED, end);
	if (end == UNWIND_TABLES_MISSING || end == UNWIND_NO_CODE)
		ask_for_tables(scratch->walk.tgid, scratch->walk.mapping.module);
	count_walk(scratch->epoch, end);
}

/* Why the kernel has walked the stack; a global function, as those of scratch.bpf.h. */
__noinline int note_walk_by_kernel(__u32 number)
{
	struct scratch *scratch = scratch__find(number);
	enum unwind_end end;
	__u32 nr;

	if (!scratch)
		return 0;
	end = scratch->by_kernel;
	nr = READ_ONCE(scratch->stack.nr);
	if (!nr)
		return 0;
	/* Where the thread is was no guess. */
	if (!config.frame_pointers)
		nr = 1;
	/* Else it ends with a mark already. */
	if (nr < config.max_frames && nr <= config.max_user_depth)
		unwind__put_mark(&scratch->stack, nr, MARK_STOPPED, end);
	count_walk(scratch->epoch, end);
	return 0;
}

/* From frame i - 1 to frame i; a global function, as those of scratch.bpf.h. enum unwind_end */
__noinline int walk_step(__u32 number, __u32 i)
{
	struct scratch *scratch = scratch__find(number);
	__u64 tag, at = i;
	enum unwind_end end;

	if (!scratch)
		return UNWIND_CUT;
	end = walk__step(&scratch->walk, &scratch->window);
	asm volatile("" : "+r"(at)); /* or the compiler compares something else */
	if (at < 1 || at >= STACK_SLOTS)
		return UNWIND_CUT;
	/* Which file it is in has just been found out. */
	tag = scratch->stack.frames[at - 1] & (__u64)FRAME_INTERRUPTED << FRAME_TAG_SHIFT;
	scratch->stack.frames[at - 1] = scratch->walk.frame | tag;
	if (end != UNWIND_GOES_ON)
		return end;
	if (at >= config.max_user_depth)
		return UNWIND_CUT;
	/* Of what returns from a signal no call put the address there, either. */
	tag = (__u64)scratch->walk.exact * FRAME_INTERRUPTED << FRAME_TAG_SHIFT;
	scratch->stack.frames[at - 1] |= tag;
	scratch->stack.frames[at] = walk__user_frame(scratch->walk.pc) | tag;
	scratch->stack.nr = at + 1;
	return UNWIND_GOES_ON;
}

/* The callers of where the walk of a slot begins; a global function, as those of scratch.bpf.h. */
__noinline int walk_stack(__u32 number)
{
	struct scratch *scratch = scratch__find(number);
	enum unwind_end end = UNWIND_TABLES_MISSING;

	if (!scratch)
		return 0;
	if (find_process(scratch->walk.tgid, &scratch->walk.process))
		end = UNWIND_GOES_ON;
	/* There is no room for more than are wanted: the last step says that it is cut. */
	for (__u32 i = 1; i < STACK_SLOTS && end == UNWIND_GOES_ON; i++)
		end = walk_step(number, i);
	unwind__note_end(scratch, end);
	return 0;
}

/*
 * With what registers the running thread came into the kernel. False if it is a thread
 * of the kernel, which has 0 there.
 */
static __always_inline bool unwind__user_regs(user_regs *regs)
{
	const void *saved = (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	return !bpf_probe_read_kernel(regs, sizeof(*regs), saved) && user_regs__pc(regs);
}

static __always_inline void unwind__from(struct scratch *scratch, const user_regs *regs,
					 enum user_walk walk, __u32 tgid)
{
	walk__begin(&scratch->walk, tgid, regs, walk == USER_WALK_FROM_FUNCTION_ENTRY);
	stack_window__forget(&scratch->window);
	scratch->stack.frames[0] = walk__user_frame(scratch->walk.pc);
	scratch->stack.nr = 1;
	if (config.unwind_tables) {
		walk_stack(scratch->number);
	} else {
		walk_frame_pointers(scratch->number);
		unwind__mark_cut(&scratch->stack, STACK_SLOTS, config.max_user_depth);
	}
}

/* Of tgid. False if the kernel's buffer is in use. */
static __always_inline bool unwind_user(void *ctx, enum user_walk walk, struct scratch *scratch,
					__u32 tgid)
{
	struct stack *stack = &scratch->stack;
	const user_regs *regs = NULL;

	if (walk == USER_WALK_FROM_SAMPLE && !config.unwind_tables)
		return unwind__user_by_kernel(ctx, stack);
	if (walk == USER_WALK_FROM_KERNEL || walk == USER_WALK_FROM_SAMPLE) {
		if (config.has_task_pt_regs) {
			stack->nr = 0;
			if (is_idle() || !unwind__user_regs(&scratch->regs))
				return true;
			regs = &scratch->regs;
		} else if (walk == USER_WALK_FROM_SAMPLE) {
			regs = ctx;
		}
	} else {
		regs = ctx;
	}
	if (regs && user_regs__is_64bit(regs)) {
		unwind__from(scratch, regs, walk, tgid);
		return true;
	}
	scratch->by_kernel = regs && user_regs__is_user(regs) ? UNWIND_32BIT : UNWIND_IN_KERNEL;
	if (!unwind__user_by_kernel(ctx, stack))
		return false;
	if (config.unwind_tables)
		note_walk_by_kernel(scratch->number);
	return true;
}

#endif
