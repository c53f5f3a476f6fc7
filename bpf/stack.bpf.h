/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack table: events counted by (process, kernel stack, user stack).
 *
 * Stacks lie in a hash map of our own, keyed by a 128-bit keyed hash of their
 * frames. BPF_MAP_TYPE_STACK_TRACE would be one helper call, but it drops or
 * overwrites a stack whose 32-bit hash falls into a bucket in use.
 *
 * A stack goes into the table before the key that refers to it, so every key
 * that user space reads has its stacks.
 */
#ifndef TRACEKIT_BPF_STACK_H
#define TRACEKIT_BPF_STACK_H

#include <linux/errno.h>

#include "accounting.bpf.h"
#include "common.bpf.h"
#include "compat.bpf.h"
#include "config.bpf.h"
#include "filter.bpf.h"
#include "siphash.bpf.h"
#include "unwind.bpf.h"

/* Sizes and preallocation are set between open and load. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct stack_id);
	__type(value, struct stack);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 40960);
	__type(key, struct stack_key);
	__type(value, __u64);
} counts SEC(".maps");

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
	struct stack_key key;
	struct stack_id ids[NR_STACK_KINDS];
	struct stack stacks[NR_STACK_KINDS];
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
 * Hash one stack of a claimed slot into the slot's ids. Not static: a global
 * function with scalar arguments is verified once, whoever calls it, and this
 * loop is most of what there is to verify. nr is read anew wherever it is used,
 * so that the verifier does not tell the 128 ways out of the loop apart.
 */
__noinline int hash_stack(__u32 number, __u32 kind)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratch_slots, &number);
	struct siphash hash = siphash__init(config.hash_seed[0], config.hash_seed[1]);
	struct stack *stack;

	if (!scratch)
		return 0;
	kind &= NR_STACK_KINDS - 1;
	stack = &scratch->stacks[kind];
	for (__u32 i = 0; i < STACK_SLOTS; i++) {
		if (i >= READ_ONCE(stack->nr))
			break;
		siphash__add(&hash, stack->frames[i]);
	}
	siphash__finish(&hash, READ_ONCE(stack->nr), &scratch->ids[kind].lo,
			&scratch->ids[kind].hi);
	return 0;
}

/*
 * Put a walked stack into the table of an epoch and its id into *id; {0, 0} without
 * frames. EVENTS_COUNTED if it is in the table now, else the reason of the loss.
 */
static __always_inline enum event_counter store_stack(struct scratch *scratch, enum stack_kind kind,
						      __u32 in_epoch, struct stack_id *id)
{
	const struct stack *stack = &scratch->stacks[kind];
	int err;

	if (stack->nr == 0)
		return EVENTS_COUNTED;
	hash_stack(scratch->number, kind);
	id->lo = (scratch->ids[kind].lo & ~1ULL) | in_epoch;
	id->hi = scratch->ids[kind].hi;
	if (bpf_map_lookup_elem(&stacks, id))
		return EVENTS_COUNTED;
	err = map_update(&stacks, id, stack, BPF_NOEXIST);
	if (!err || err == -EEXIST)
		return EVENTS_COUNTED;
	return err == -E2BIG ? EVENTS_LOST_STACKS_FULL : EVENTS_LOST_REFUSED;
}

static __always_inline enum event_counter count_key(const struct stack_key *key)
{
	__u64 *count = bpf_map_lookup_elem(&counts, key);
	__u64 zero = 0;

	if (!count) {
		int err = map_update(&counts, key, &zero, BPF_NOEXIST);

		if (err == -E2BIG)
			return EVENTS_LOST_KEYS_FULL;
		if (err && err != -EEXIST)
			return EVENTS_LOST_REFUSED;
		count = bpf_map_lookup_elem(&counts, key);
		if (!count)
			return EVENTS_LOST_REFUSED;
	}
	__sync_fetch_and_add(count, 1);
	return EVENTS_COUNTED;
}

/*
 * Walk the stacks of this context, store them, and count the event under the key of
 * the slot, whose ids are filled in on the way. What became of it is for count_event().
 */
static __always_inline enum event_counter count_in_slot(void *ctx, enum user_walk user_walk,
							struct scratch *scratch)
{
	struct stack_key *key = &scratch->key;
	enum event_counter outcome;

	if (config.kernel_stacks) {
		if (!unwind_kernel(ctx, &scratch->stacks[KERNEL_STACK]))
			return EVENTS_LOST_BUSY;
		outcome = store_stack(scratch, KERNEL_STACK, key->epoch, &key->kernel);
		if (outcome != EVENTS_COUNTED)
			return outcome;
	}
	if (config.user_stacks) {
		if (!unwind_user(ctx, user_walk, &scratch->stacks[USER_STACK], &scratch->walker))
			return EVENTS_LOST_BUSY;
		outcome = store_stack(scratch, USER_STACK, key->epoch, &key->user);
		if (outcome != EVENTS_COUNTED)
			return outcome;
	}
	return count_key(key);
}

/* Count an event of the process tgid. What became of it is for count_event(). */
static __always_inline enum event_counter count_stacks(void *ctx, enum user_walk user_walk,
						       __u32 in_epoch, __u32 tgid)
{
	struct scratch *scratch = scratch__claim();
	enum event_counter outcome;

	if (!scratch)
		return EVENTS_LOST_BUSY;
	__builtin_memset(&scratch->key, 0, sizeof(scratch->key));
	scratch->key.epoch = in_epoch;
	if (config.key_by_process) {
		scratch->key.tgid = tgid;
		bpf_get_current_comm(scratch->key.comm, sizeof(scratch->key.comm));
	}
	outcome = count_in_slot(ctx, user_walk, scratch);
	scratch__release(scratch);
	return outcome;
}

/* All that one event of an applet that counts stacks does. */
static __always_inline void count_current(void *ctx, enum user_walk user_walk)
{
	__u32 in_epoch = current_epoch();
	enum event_counter outcome;
	__u32 tgid;

	count_event(in_epoch, EVENTS_SEEN);
	outcome = filter_current(&tgid);
	if (outcome == EVENTS_SEEN)
		outcome = count_stacks(ctx, user_walk, in_epoch, tgid);
	count_event(in_epoch, outcome);
}

#endif
