/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack table: events counted by (process, kernel stack, user stack).
 *
 * Stacks lie in a hash map of our own, in parts, keyed by a 128-bit keyed hash of their
 * frames. BPF_MAP_TYPE_STACK_TRACE would be one helper call, but it drops or
 * overwrites a stack whose 32-bit hash falls into a bucket in use.
 *
 * A stack goes into the table before the key that refers to it, so every key
 * that user space reads has its stacks.
 */
#ifndef TRACEKIT_BPF_STACK_H
#define TRACEKIT_BPF_STACK_H

#include "accounting.bpf.h"
#include "common.bpf.h"
#include "config.bpf.h"
#include "filter.bpf.h"
#include "insert.bpf.h"
#include "parts.bpf.h"
#include "scratch.bpf.h"
#include "unwind.bpf.h"

/* Sizes and preallocation are set between open and load. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct stack_id);
	__type(value, struct stack_part);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 40960);
	__type(key, struct stack_key);
	__type(value, struct stack_count);
} counts SEC(".maps");

/*
 * Put the part that was made into the table. EVENTS_COUNTED if it is there now. A global function,
 * as those of scratch.bpf.h.
 */
__noinline int store_part(__u32 number)
{
	const struct scratch *scratch = scratch__find(number);
	const struct part_record *record;
	int err;

	if (!scratch)
		return EVENTS_LOST_BUSY;
	record = &scratch->record;
	if (bpf_map_lookup_elem(&stacks, &record->id))
		return EVENTS_COUNTED;
	err = map_insert(&stacks, FILLABLE_STACKS, &record->id, &record->part);
	if (!err || err == -EEXIST)
		return EVENTS_COUNTED;
	return err == -E2BIG ? EVENTS_LOST_STACKS_FULL : EVENTS_LOST_REFUSED;
}

/*
 * Put the stack that was walked into the table, and its id into the record of the slot; {0, 0}
 * without frames. EVENTS_COUNTED if all of it is in the table now, else the reason of the loss.
 * A global function, as those of scratch.bpf.h.
 */
__noinline int store_stack(__u32 number)
{
	struct scratch *scratch = scratch__find(number);
	enum event_counter outcome = EVENTS_COUNTED;

	if (!scratch)
		return EVENTS_LOST_BUSY;
	scratch->record.id = (struct stack_id){};
#pragma clang loop unroll(disable)
	for (__u32 i = STACK_PARTS; i-- > 0 && outcome == EVENTS_COUNTED;) {
		if (i * PART_FRAMES >= READ_ONCE(scratch->stack.nr))
			continue;
		make_part(number, i * PART_FRAMES);
		outcome = store_part(number);
	}
	return outcome;
}

/* A function of its own, for its stack. EVENTS_COUNTED if the key is there now. */
static __noinline enum event_counter add_key(const struct stack_key *key,
					     const struct stack_count *first)
{
	int err = map_insert(&counts, FILLABLE_COUNTS, key, first);

	if (err == -E2BIG)
		return EVENTS_LOST_KEYS_FULL;
	if (err && err != -EEXIST)
		return EVENTS_LOST_REFUSED;
	if (!err)
		count_new_key(key->epoch);
	return EVENTS_COUNTED;
}

/* Count an event: first is the value of a new key. The result is for count_event(). */
static __always_inline enum event_counter count_key(const struct stack_key *key,
						    const struct stack_count *first, __u64 weight)
{
	struct stack_count *count = bpf_map_lookup_elem(&counts, key);

	if (!count) {
		enum event_counter outcome = add_key(key, first);

		if (outcome != EVENTS_COUNTED)
			return outcome;
		count = bpf_map_lookup_elem(&counts, key);
		if (!count)
			return EVENTS_LOST_REFUSED;
	}
	__sync_fetch_and_add(&count->count, 1);
	if (weight)
		__sync_fetch_and_add(&count->weight, weight);
	return EVENTS_COUNTED;
}

/* Send the stack that the slot keeps, and what its event is counted by; 0: there is no room. */
__noinline int send_raw_event(__u32 number)
{
	struct scratch *scratch = scratch__find(number);
	struct raw_buffer *buffer = scratch ? raw__find(scratch->raw - 1) : NULL;

	if (!buffer)
		return 0;
	buffer->stack.key = scratch->key;
	buffer->stack.first = scratch->first;
	buffer->stack.weight = scratch->weight;
	return raw__send(scratch, buffer);
}

/*
 * Count an event whose stack has been walked later: user space runs it (BPF_PROG_TEST_RUN). Returns
 * 1, or 0 if all slots are in use.
 */
SEC("?raw_tp")
int take_walked(void *ctx __attribute__((unused)))
{
	const struct walked_stack *walked = raw__find_walked();
	struct scratch *scratch = walked ? raw__claim_walked(walked) : NULL;
	enum event_counter outcome;

	if (!scratch)
		return 0;
	outcome = store_stack(scratch->number);
	if (outcome == EVENTS_COUNTED) {
		scratch->key = walked->key;
		scratch->key.user = scratch->record.id;
		scratch->first = walked->first;
		outcome = count_key(&scratch->key, &scratch->first, walked->weight);
	}
	if (outcome != EVENTS_COUNTED && walked->weight)
		count_lost_weight(scratch->epoch, walked->weight);
	count_event(scratch->epoch, EVENTS_WALKED);
	count_event(scratch->epoch, outcome);
	scratch__release(scratch);
	return 1;
}

/*
 * Store the stacks of the event in that slot, and fill their ids into its key: the kernel's has
 * been walked, as unwind_kernel() has said, and the program's is walked now. EVENTS_COUNTED if all
 * is in the table then, EVENTS_LATER if the program's is walked later, with all of the event; else
 * the reason of the loss.
 */
static __always_inline enum event_counter store_stacks(void *ctx, enum user_walk user_walk,
						       struct scratch *scratch, bool walked)
{
	struct stack_key *key = &scratch->key;
	enum event_counter outcome;

	if (!walked)
		return EVENTS_LOST_BUSY;
	if (config.kernel_stacks) {
		outcome = store_stack(scratch->number);
		if (outcome != EVENTS_COUNTED)
			return outcome;
		key->kernel = scratch->record.id;
	}
	if (config.user_stacks) {
		if (!unwind_user(ctx, user_walk, scratch))
			return EVENTS_LOST_BUSY;
		if (scratch->raw && send_raw_event(scratch->number))
			return EVENTS_LATER;
		outcome = store_stack(scratch->number);
		if (outcome != EVENTS_COUNTED)
			return outcome;
		key->user = scratch->record.id;
	}
	return EVENTS_COUNTED;
}

/* A slot whose key is that of the process tgid, but for its stacks; NULL if all are in use. */
static __always_inline struct scratch *claim_key(__u32 in_epoch, __u32 tgid)
{
	struct scratch *scratch = scratch__claim(in_epoch, tgid);

	if (!scratch)
		return NULL;
	__builtin_memset(&scratch->key, 0, sizeof(scratch->key));
	__builtin_memset(&scratch->first, 0, sizeof(scratch->first));
	scratch->key.epoch = in_epoch;
	if (config.tell_cgroups)
		scratch->first.cgroup = bpf_get_current_cgroup_id();
	if (config.key_by_process) {
		scratch->key.tgid = tgid;
		scratch->key.program = scratch->walk.program = current_program();
		bpf_get_current_comm(scratch->key.comm, sizeof(scratch->key.comm));
	}
	return scratch;
}

#endif
