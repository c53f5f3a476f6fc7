/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where an event is put together: its stacks are walked and hashed here. */
#ifndef TRACEKIT_BPF_SCRATCH_H
#define TRACEKIT_BPF_SCRATCH_H

#include "common.bpf.h"
#include "config.bpf.h"
#include "siphash.bpf.h"
#include "unwind.bpf.h"

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
 * kernel gives programs with 64 bytes of stack or more one of their own for each CPU,
 * which the next thread overwrites when a uprobe program is preempted (seen on 7.2).
 * So each function of programs that can be preempted uses less.
 */

enum stack_kind { KERNEL_STACK, USER_STACK, NR_STACK_KINDS };

struct scratch {
	__u64 claims;
	__u32 number; /* of the slot, for functions that look it up again */
	__u32 reserved;
	union {
		struct stack_key key;	   /* what an event is counted by, */
		struct event_record event; /* or sent as */
	};
	struct stack_record stacks[NR_STACK_KINDS];
	struct user_walker walker;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS_NESTED);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch_slots SEC(".maps");

/* NULL if all slots are in use. */
static __always_inline struct scratch *scratch__claim(void)
{
	for (__u32 i = 0; i < SCRATCH_SLOTS_PREEMPTED; i++) {
		__u32 number = i;
		struct scratch *scratch = bpf_map_lookup_elem(&scratch_slots, &number);

		if (!scratch)
			return NULL;
		__sync_fetch_and_add(&scratch->claims, 1);
		if (READ_ONCE(scratch->claims) == 1) {
			scratch->number = i;
			scratch->walker.window.number = i;
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

__noinline int read_stack_window(__u32 number, __u64 address)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratch_slots, &number);

	return scratch && stack_window__read(&scratch->walker.window, address);
}

/*
 * Hash one stack of a claimed slot into its id. Not static: a global
 * function with scalar arguments is verified once, whoever calls it, and this
 * loop is most of what there is to verify. nr is read anew wherever it is used,
 * so that the verifier does not tell the 128 ways out of the loop apart.
 */
__noinline int hash_stack(__u32 number, __u32 kind)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratch_slots, &number);
	struct siphash hash = siphash__init(config.hash_seed[0], config.hash_seed[1]);
	struct stack_record *record;
	struct stack *stack;

	if (!scratch)
		return 0;
	record = &scratch->stacks[kind & (NR_STACK_KINDS - 1)];
	stack = &record->stack;
	for (__u32 i = 0; i < STACK_SLOTS; i++) {
		if (i >= READ_ONCE(stack->nr))
			break;
		siphash__add(&hash, stack->frames[i]);
	}
	siphash__finish(&hash, READ_ONCE(stack->nr), &record->id.lo, &record->id.hi);
	return 0;
}

/* The id that a walked stack, which has frames, has in an epoch; kept in its record, too. */
static __always_inline struct stack_id identify_stack(struct scratch *scratch, enum stack_kind kind,
						      __u32 in_epoch)
{
	struct stack_id *id = &scratch->stacks[kind].id;

	hash_stack(scratch->number, kind);
	id->lo = (id->lo & ~1ULL) | in_epoch;
	return *id;
}

#endif
