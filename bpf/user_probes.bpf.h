/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What probes of programs (uprobes), of whichever tool, do to stacks; kernel/events/uprobes.c.
 *
 * When a function with a return probe begins, the kernel overwrites its return address on the stack
 * by that of a trampoline, where the thread then comes into the kernel again. The thread's list of
 * return instances has the address that was there, and the place on the stack; the innermost
 * function is the first. A function that another one has called in its own place, at its end, has
 * the same place as that, and the kernel keeps the same address for both.
 *
 * An instruction with a breakpoint is executed elsewhere, unless the kernel does what it does: in
 * slots behind the trampoline, in one area of the process.
 */
#ifndef TRACEKIT_BPF_USER_PROBES_H
#define TRACEKIT_BPF_USER_PROBES_H

#include "arch.bpf.h"
#include "common.bpf.h"
#include "config.bpf.h"
#include "scratch.bpf.h"
#include "task.bpf.h"

/* MAX_URETPROBE_DEPTH of the kernel: the instances of a thread. */
#define RETURN_INSTANCES_MAX 64

/* The trampoline of the process with this struct mm_struct; 0: it has none. */
static __always_inline __u64 user_probes__trampoline(__u64 mm)
{
	if (config.mapping.mm_xol_area == NO_OFFSET)
		return 0;
	mm = read_pointer(mm + config.mapping.mm_xol_area);
	return mm ? read_pointer(mm + config.mapping.xol_address) : 0;
}

/* Read a word of an instance to where walks have room for it: the stack has none. */
static __always_inline __u64 return_instance__read(__u64 *word, __u64 instance, __u32 offset)
{
	bpf_probe_read_kernel(word, sizeof(*word), (const void *)(instance + offset));
	return *word;
}

/* What the running thread has of probes, or 0. */
static __always_inline __u64 user_probes__task(void)
{
	return read_pointer(bpf_get_current_task() + config.mapping.task_utask);
}

/*
 * The walk is at the trampoline, where the stack pointer is at most so many bytes below what it
 * was when the function returned: go on to where it really returns. False if nobody knows that. A
 * global function, as those of scratch.bpf.h.
 */
__noinline int leave_trampoline(__u32 number, __u64 below)
{
	struct scratch *scratch = scratch__find(number);
	struct walk *walk;
	__u64 stack;

	if (!scratch)
		return 0;
	walk = &scratch->walk;
	if (!walk->trampoline || config.mapping.mm_xol_area == NO_OFFSET)
		return 1; /* it is at address 0 */
	if (!walk->instance)
		walk->instance = read_pointer(user_probes__task() + config.mapping.utask_instances);
	for (__u32 i = 0; i < RETURN_INSTANCES_MAX && walk->instance; i++) {
		stack = CALL_PUSHES + return_instance__read(&walk->cfa, walk->instance,
							    config.mapping.instance_stack);
		if (stack - walk->registers[DWARF_STACK_POINTER] <= below) {
			walk->registers[DWARF_STACK_POINTER] = stack;
			walk->pc = user_regs__code(return_instance__read(
				&walk->pc, walk->instance, config.mapping.instance_return));
			return 1;
		}
		return_instance__read(&walk->instance, walk->instance,
				      config.mapping.instance_next);
	}
	return 0;
}

/* The trampoline has been in the kernel: the return address is on the stack again. */
static __always_inline void read_return_address(struct walk *walk, __u64 byte)
{
	__u64 place = walk->registers[DWARF_STACK_POINTER] + trampoline__below(byte);

	if (bpf_probe_read_user(&walk->cfa, sizeof(walk->cfa), (const void *)place))
		return;
	walk->registers[DWARF_STACK_POINTER] = place + CALL_PUSHES;
	walk->pc = user_regs__code(walk->cfa);
}

/*
 * A walk begins in a process that has such an area. Where it begins in the area, or behind a
 * breakpoint, go on to the place that is meant, as far as that is known. A thread at the trampoline
 * may have been in the kernel already, which has forgotten the instance: then another one would be
 * that of a caller.
 */
__noinline int leave_probes(__u32 number)
{
	struct scratch *scratch = scratch__find(number);
	struct walk *walk;
	__u64 byte, slot;
	bool pops;

	if (!scratch || config.mapping.mm_xol_area == NO_OFFSET)
		return 0;
	walk = &scratch->walk;
	byte = walk->pc - walk->trampoline;
	if (byte >= USER_PAGE) {
		/* If the stack is walked later, that begins there, too. */
		if (walk->may_be_behind_breakpoint)
			walk->start.pc = walk->pc = user_code__before_breakpoint(walk->pc);
		return 0;
	}
	if (byte < TRAMPOLINE_BYTES) {
		/* Within the system call the stack pointer is the function's for a moment. */
		pops = walk->exact && byte >= TRAMPOLINE_POPS;
		if (leave_trampoline(number, pops ? 0 : TRAMPOLINE_PUSHES))
			walk->exact = true;
		else if (pops)
			read_return_address(walk, byte);
		return 0;
	}
	slot = walk->pc - read_pointer(user_probes__task() + config.mapping.utask_slot);
	if (slot <= INSTRUCTION_BYTES)
		walk->pc = slot + read_pointer(user_probes__task() + config.mapping.utask_place);
	return 0;
}

#endif
