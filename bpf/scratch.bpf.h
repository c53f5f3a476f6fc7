/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where an event is put together: its stacks are walked and hashed here. */
#ifndef TRACEKIT_BPF_SCRATCH_H
#define TRACEKIT_BPF_SCRATCH_H

#include "common.bpf.h"
#include "config.bpf.h"
#include "siphash.bpf.h"
#include "stack_window.bpf.h"
#include "walk.bpf.h"

/*
 * Scratch slots: a stack is too large for the BPF stack, and a per-CPU variable
 * is overwritten when a program is preempted, or interrupted by a program of
 * another kind. So each CPU has a few slots, and an event claims one.
 *
 * Claiming needs no atomic that returns a value (5.12+): add one, then look. A
 * context owns a slot if it reads 1 after its own addition. Two cannot: while
 * both additions stand, the later reader sees at least 2. Two that race can
 * both fail and go to the next slot, which costs a slot's use, never a stack.
 * A context stays on its CPU from claim to release.
 *
 * The key is in the slot for another reason as well: from 6.13 on (a76ab5731e32) the
 * kernel gives functions with 64 bytes of stack or more one of their own for each CPU,
 * which the next thread overwrites when a uprobe program is preempted (seen on 7.2).
 * It rounds up to 16: so each function of programs that can be preempted uses at most 48.
 */

/* Leaf first. Only frames[0..nr) mean anything. */
struct stack {
	__u32 nr;
	__u32 reserved;
	__u64 frames[STACK_SLOTS];
};

struct scratch {
	__u64 claims;
	__u32 number;	 /* of the slot, for functions that look it up again */
	__u32 epoch;	 /* of the event */
	__u32 by_kernel; /* enum unwind_end: why the kernel walks the stack, if it does */
	__u32 reserved;
	union {
		struct stack_key key;	   /* what an event is counted by, */
		struct event_record event; /* or sent as */
	};
	struct stack stack;	   /* that is walked, */
	struct part_record record; /* and a part of it, with its id */
	struct walk walk;
	struct stack_window window;
	user_regs regs;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS_NESTED);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch_slots SEC(".maps");

/* NULL if all slots are in use. */
static __always_inline struct scratch *scratch__claim(__u32 in_epoch)
{
	for (__u32 i = 0; i < SCRATCH_SLOTS_PREEMPTED; i++) {
		__u32 number = i;
		struct scratch *scratch = bpf_map_lookup_elem(&scratch_slots, &number);

		if (!scratch)
			return NULL;
		__sync_fetch_and_add(&scratch->claims, 1);
		if (READ_ONCE(scratch->claims) == 1) {
			scratch->number = i;
			scratch->epoch = in_epoch;
			scratch->window.number = i;
			scratch->walk.number = i;
			return scratch;
		}
		__sync_fetch_and_add(&scratch->claims, -1);
	}
	return NULL;
}

static __always_inline void scratch__release(struct scratch *scratch)
{
	__sync_fetch_and_add(&scratch->claims, -1);
}

/*
 * Global functions with scalar arguments, which find their slot again, are verified once,
 * whoever calls them: what they do is most of what there is to verify.
 */
__noinline int read_stack_window(__u32 number, __u64 address)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratch_slots, &number);

	return scratch && stack_window__read(&scratch->window, address);
}

__noinline int walk_find_rule(__u32 number)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratch_slots, &number);

	return scratch ? walk__find_rule(&scratch->walk) : UNWIND_UNREADABLE;
}

/* From a frame to its caller's by the frame pointer, whatever the tables say; 0: there is none. */
__noinline int follow_frame_pointer(__u32 number)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratch_slots, &number);

	return scratch && walk__follow_frame_pointer(&scratch->walk, &scratch->window);
}

/*
 * Make the part of the stack that begins with that frame, and its id, of which the one made
 * before is the next. Parts are named by their frames and by that, so equal ones are one.
 */
__noinline int make_part(__u32 number, __u32 first)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratch_slots, &number);
	struct siphash hash = siphash__init(config.hash_seed[0], config.hash_seed[1]);
	struct stack_part *part;
	__u32 nr = 0;

	if (!scratch || first > STACK_SLOTS - PART_FRAMES)
		return 0;
	part = &scratch->record.part;
	part->next = scratch->record.id;
	siphash__add(&hash, part->next.lo);
	siphash__add(&hash, part->next.hi);
	for (__u32 i = 0; i < PART_FRAMES; i++) {
		__u64 at = first + i, frame;

		/* It is below; the compiler knows that, and the verifier has to be told. */
		asm volatile("" : "+r"(at));
		/* Read anew, so that the verifier does not tell the ways out apart. */
		if (at >= STACK_SLOTS || at >= READ_ONCE(scratch->stack.nr))
			break;
		frame = scratch->stack.frames[at];
		part->frames[i] = frame;
		siphash__add(&hash, frame);
		nr = i + 1;
	}
	part->nr = nr;
	siphash__finish(&hash, nr + 2, &scratch->record.id.lo, &scratch->record.id.hi);
	scratch->record.id.lo = (scratch->record.id.lo & ~1ULL) | scratch->epoch % NR_EPOCHS;
	return 0;
}

#endif
