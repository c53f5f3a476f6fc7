/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a context to the frames of a stack: the only file that knows how stacks
 * are walked. Both functions fill the stack of a claimed slot with tagged frames, leaf
 * first, and put a marker at its root end if there was more.
 *
 * bpf_get_stack() follows the kernel's own unwinder, and frame pointers in user
 * space. It returns at most kernel.perf_event_max_stack frames and does not say
 * whether there were more, so we ask for one frame more than we keep. Where the
 * sysctl is at its default of 127 the kernel refuses that, and a stack of 127 frames
 * is taken for a cut one: a whole stack of exactly that size is then marked, too.
 */
#ifndef TRACEKIT_BPF_UNWIND_H
#define TRACEKIT_BPF_UNWIND_H

#include "accounting.bpf.h"
#include "arch.bpf.h"
#include "ask.bpf.h"
#include "common.bpf.h"
#include "config.bpf.h"
#include "raw.bpf.h"
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

/*
 * The kernel's stack at the first instruction of one of its functions, whose return address is in
 * the link register: the kernel goes on by the frame pointer, which is still the caller's, and so
 * leaves out the caller itself. The context is a struct pt_regs.
 */
static __always_inline bool unwind__get_stack_of_function(void *ctx, struct stack *stack)
{
	long bytes = bpf_get_stack(ctx, stack->frames + 1, KERNEL_SLOTS * sizeof(__u64), 0);

	if (bytes < 0)
		return false;
	stack->nr = (__u32)bytes / sizeof(stack->frames[0]);
	if (!stack->nr)
		return true;
	stack->frames[0] = stack->frames[1];
	stack->frames[1] = user_regs__link(ctx);
	stack->nr++;
	return true;
}

/* Put a mark behind the first nr frames, over anything that is there. */
static __always_inline void unwind__put_mark(struct stack *stack, __u32 nr, enum frame_mark kind,
					     __u32 argument)
{
	if (nr < STACK_SLOTS) {
		stack->frames[nr] = frame_mark(kind, argument);
		stack->nr = nr + 1;
	}
}

/* most: the frames that the walk could find. With so many it was perhaps not at the root. */
static __always_inline void unwind__mark_cut(struct stack *stack, __u32 most, __u32 wanted)
{
	__u32 nr = READ_ONCE(stack->nr), kept = most > wanted ? wanted : most;

	if (nr >= most || nr > wanted)
		unwind__put_mark(stack, kept, MARK_CUT, kept);
}

/*
 * Walk the kernel's stack, if it is wanted. False if the kernel's buffer is in use.
 *
 * Programs call this themselves, inlined: the kernel walks through each BPF function that is called
 * on the way, and needs longer for one than for three of its own functions.
 */
static __always_inline bool unwind_kernel(void *ctx, struct scratch *scratch)
{
	if (!config.kernel_stacks)
		return true;
	if (LINK_REGISTER && config.adds_caller ?
		    !unwind__get_stack_of_function(ctx, &scratch->stack) :
		    !unwind__get_stack(ctx, &scratch->stack, 0))
		return false;
	unwind__mark_cut(&scratch->stack, config.max_frames, config.max_depth);
	return true;
}

/* Where the thread is when its user stack is walked. */
enum user_walk {
	USER_WALK_FROM_SAMPLE,	       /* anywhere; the context is a struct bpf_perf_event_data */
	USER_WALK_FROM_KERNEL,	       /* in the kernel; the context is of any type */
	USER_WALK_FROM_WITHIN,	       /* in a function; the context is a struct pt_regs */
	USER_WALK_FROM_FUNCTION_ENTRY, /* at its first instruction; so is this one */
};

/*
 * The verifier goes through a loop as often as it can run, but through a global function once,
 * however often it is called. So a loop over all frames is one over functions that take so many of
 * them at a time: some hundred instructions are verified, not some thousand.
 */
#define FRAMES_AT_ONCE 24

/* One frame further by frame pointers; 0: there is none. A global function, as those of
 * scratch.bpf.h. */
__noinline int add_by_frame_pointer(__u32 number)
{
	struct scratch *scratch = scratch__find(number);
	__u64 nr;

	if (!scratch)
		return 0;
	nr = READ_ONCE(scratch->stack.nr); /* a walk by tables may have come so far */
	asm volatile("" : "+r"(nr));	   /* or the compiler compares something else */
	if (nr >= STACK_SLOTS || nr > config.max_user_depth || !follow_frame_pointer(number))
		return 0;
	scratch->stack.frames[nr] = walk__user_frame(scratch->walk.pc);
	scratch->stack.nr = nr + 1;
	return 1;
}

/* Some frames further; 0: there are no more. */
__noinline int add_some_by_frame_pointers(__u32 number)
{
	for (__u32 i = 0; i < FRAMES_AT_ONCE; i++)
		if (!add_by_frame_pointer(number))
			return 0;
	return 1;
}

/*
 * Walk by frame pointers, as the kernel does, but without the kernel's buffers, which another
 * thread overwrites when this one is preempted between its walk and its copy; and in less time,
 * since the stack is read in pieces. A function that keeps a frame pointer has its caller's frame
 * pointer on the stack, and then the return address (x86-64, arm64).
 */
__noinline int walk_frame_pointers(__u32 number)
{
	for (__u32 i = 0; i < STACK_SLOTS; i += FRAMES_AT_ONCE)
		if (!add_some_by_frame_pointers(number))
			break;
	return 0;
}

/*
 * A frame that was found without tables: say in which file it is. A global function, as those of
 * scratch.bpf.h.
 */
__noinline int place_frame(__u32 number, __u32 i)
{
	struct scratch *scratch = scratch__find(number);
	__u64 frame, at = i;
	bool is_exact;

	asm volatile("" : "+r"(at)); /* or the compiler compares something else */
	if (!scratch || !config.find_files || at >= STACK_SLOTS)
		return 0;
	frame = scratch->stack.frames[at];
	is_exact = !at || frame_is_interrupted(frame);
	scratch->walk.pc = walk__user_frame(frame_plain(frame));
	scratch->walk.frame = scratch->walk.pc;
	if (!scratch->walk.pc || walk__find_module(&scratch->walk, scratch->walk.pc - !is_exact))
		return 0;
	if (scratch->walk.mapping.unheard)
		ask_for_tables(number);
	walk__note_frame(&scratch->walk);
	scratch->stack.frames[at] =
		scratch->walk.frame | (frame & (__u64)FRAME_INTERRUPTED << FRAME_TAG_SHIFT);
	return 0;
}

/* Place some frames, from the first on; 0: there are no more. */
__noinline int place_some_frames(__u32 number, __u32 first)
{
	struct scratch *scratch = scratch__find(number);

	for (__u32 i = 0; i < FRAMES_AT_ONCE && scratch; i++) {
		if (first + i >= READ_ONCE(scratch->stack.nr))
			return 0;
		place_frame(number, first + i);
	}
	return 1;
}

/* All frames from the first on that are not marks. Inlined: calls can be eight deep. */
static __always_inline void place_frames(__u32 number, __u32 first)
{
	for (__u32 i = 0; i < STACK_SLOTS && config.find_files; i += FRAMES_AT_ONCE)
		if (!place_some_frames(number, first + i))
			break;
}

static __always_inline bool unwind__user_by_kernel(void *ctx, struct scratch *scratch)
{
	struct stack *stack = &scratch->stack;

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
	if (config.find_files && stack->nr) {
		walk__begin_modules(scratch);
		place_frames(scratch->number, 0);
	}
	return true;
}

/* Count how a walk by tables has ended, and mark the stack if it is not complete. */
static __always_inline void unwind__note_end(struct scratch *scratch, enum unwind_end end)
{
	struct stack *stack = &scratch->stack;
	__u32 nr = READ_ONCE(stack->nr);
	int later = 0;

	if (end == UNWIND_TABLES_MISSING) {
		ask_for_tables(scratch->number);
		later = is_walked_later(scratch->number);
	}
	/* The frames of a walk without tables are better than nothing, as long as a mark tells. */
	if (end == UNWIND_TABLES_MISSING && config.frame_pointers) {
		walk_frame_pointers(scratch->number);
		place_frames(scratch->number, nr);
	}
	nr = READ_ONCE(stack->nr);
	if (nr > config.max_user_depth)
		nr = config.max_user_depth;
	/* The last frame is the probes' trampoline, which is nobody's caller. */
	if (end == UNWIND_RETURN_PROBE && nr)
		nr--;
	if (end == UNWIND_CUT)
		unwind__put_mark(stack, nr, MARK_CUT, nr);
	else if (end > UNWIND_CUT)
		unwind__put_mark(stack, nr, MARK_STOPPED, end);
	/* Or else when it has been walked later. */
	if (!later || !raw__keep(scratch))
		count_walk(scratch->epoch, end);
}

/* Mark and count a stack that the kernel walked; a global function, as those of scratch.bpf.h. */
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
	/* The first frame, where the thread was, is no guess. */
	if (!config.frame_pointers)
		nr = 1;
	/* Else the stack ends with a mark already. */
	if (nr < config.max_frames && nr <= config.max_user_depth)
		unwind__put_mark(&scratch->stack, nr, MARK_STOPPED, end);
	count_walk(scratch->epoch, end);
	return 0;
}

/* From frame i - 1 to frame i: an enum unwind_end; a global function, as those of scratch.bpf.h. */
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
	/* The step has just found out in which file the frame is. */
	tag = scratch->stack.frames[at - 1] & (__u64)FRAME_INTERRUPTED << FRAME_TAG_SHIFT;
	scratch->stack.frames[at - 1] = scratch->walk.frame | tag;
	if (end != UNWIND_GOES_ON)
		return end;
	if (at >= config.max_user_depth)
		return UNWIND_CUT;
	/* No call put the address of a signal's return code there, either. */
	tag = (__u64)scratch->walk.exact * FRAME_INTERRUPTED << FRAME_TAG_SHIFT;
	scratch->stack.frames[at - 1] |= tag;
	scratch->stack.frames[at] = walk__user_frame(scratch->walk.pc) | tag;
	scratch->stack.nr = at + 1;
	return UNWIND_GOES_ON;
}

/*
 * True if neither the code nor the stack of the first frame is mapped: they were those of a program
 * that exec() is replacing, or that is about to end, and has no memory any more.
 */
static __always_inline bool unwind__has_left(const struct scratch *scratch, enum unwind_end end)
{
	const struct walk *walk = &scratch->walk;

	/* All registers are known behind a signal handler as well, which anybody can pretend. */
	return (end == UNWIND_NO_CODE || end == UNWIND_CHANGING) && walk->valid == -1ULL &&
	       READ_ONCE(scratch->stack.nr) == 1 &&
	       find_mapping(scratch->number, walk__stack_pointer(walk)) == MAPPING_NONE;
}

/* From frame i - 1 some frames further, as walk_step(). */
__noinline int walk_some_steps(__u32 number, __u32 i)
{
	enum unwind_end end = UNWIND_GOES_ON;

	for (__u32 step = 0; step < FRAMES_AT_ONCE && end == UNWIND_GOES_ON; step++)
		end = walk_step(number, i + step);
	return end;
}

/* Note how a walk has ended. A global function, as those of scratch.bpf.h. */
__noinline int end_walk(__u32 number, __u32 end)
{
	struct scratch *scratch = scratch__find(number);

	if (!scratch)
		return 0;
	if (unwind__has_left(scratch, end))
		scratch->stack.nr = 0;
	else
		unwind__note_end(scratch, end);
	return 0;
}

/* Find the callers of a slot's first frame. Inlined, as place_frames(). */
static __always_inline void walk_stack(__u32 number)
{
	enum unwind_end end = UNWIND_GOES_ON;

	/* There is no room for more frames than are wanted: the last step says UNWIND_CUT. */
	for (__u32 i = 1; i < STACK_SLOTS && end == UNWIND_GOES_ON; i += FRAMES_AT_ONCE)
		end = walk_some_steps(number, i);
	end_walk(number, end);
}

/*
 * The registers with which the running thread came into the kernel. Returns where the kernel has
 * them; NULL if they cannot be read, or for a thread of the kernel, which has 0 there.
 */
static __always_inline const void *unwind__user_regs(user_regs *regs)
{
	const void *saved = (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	return !bpf_probe_read_kernel(regs, sizeof(*regs), saved) && user_regs__pc(regs) ? saved :
											   NULL;
}

/* Begin where the registers of the slot's walk are: with the first frame. */
static __always_inline void unwind__begin(struct scratch *scratch)
{
	walk__begin(scratch);
	stack_window__forget(&scratch->window);
	scratch->stack.frames[0] = walk__user_frame(scratch->walk.pc);
	scratch->stack.nr = 1;
}

static __always_inline void unwind__from_registers(struct scratch *scratch)
{
	unwind__begin(scratch);
	if (config.unwind_tables) {
		walk_stack(scratch->number);
	} else {
		walk_frame_pointers(scratch->number);
		place_frames(scratch->number, 0);
		unwind__mark_cut(&scratch->stack, STACK_SLOTS, config.max_user_depth);
	}
}

/* Walk the user stack of the slot's process. False if the kernel's buffer is in use. */
static __always_inline bool unwind_user(void *ctx, enum user_walk walk, struct scratch *scratch)
{
	struct stack *stack = &scratch->stack;
	const user_regs *regs = NULL;
	const void *saved = NULL; /* where the kernel has them */

	if (walk == USER_WALK_FROM_SAMPLE && !config.unwind_tables)
		return unwind__user_by_kernel(ctx, scratch);
	if (walk == USER_WALK_FROM_KERNEL || walk == USER_WALK_FROM_SAMPLE) {
		if (config.has_task_pt_regs) {
			stack->nr = 0;
			saved = is_idle() ? NULL : unwind__user_regs(&scratch->regs);
			if (!saved)
				return true;
			regs = &scratch->regs;
		} else if (walk == USER_WALK_FROM_SAMPLE) {
			regs = ctx;
		}
	} else {
		regs = ctx;
	}
	if (regs && user_regs__is_64bit(regs)) {
		user_regs__to_dwarf(regs, scratch->walk.registers);
		scratch->walk.pc = user_regs__pc(regs);
		scratch->walk.exact = !user_regs__in_system_call(regs, saved);
		scratch->walk.at_entry = walk == USER_WALK_FROM_FUNCTION_ENTRY;
		/* A thread in the kernel, but not by a system call. */
		scratch->walk.may_be_behind_breakpoint =
			scratch->walk.exact &&
			(walk == USER_WALK_FROM_KERNEL ||
			 (walk == USER_WALK_FROM_SAMPLE && !user_regs__is_user(ctx))) &&
			user_regs__may_be_behind_breakpoint(regs);
		scratch->walk.start.is_called = 0;
		unwind__from_registers(scratch);
		return true;
	}
	scratch->by_kernel = regs && user_regs__is_user(regs) ? UNWIND_32BIT : UNWIND_IN_KERNEL;
	if (!unwind__user_by_kernel(ctx, scratch))
		return false;
	if (config.unwind_tables)
		note_walk_by_kernel(scratch->number);
	return true;
}

#endif
