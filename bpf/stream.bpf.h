/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stream: every event by itself, as it happens.
 *
 * A record of an event has a fixed size, and names its stacks by their ids. Most events
 * share few stacks: the frames of a stack go through the buffer once in an epoch, before
 * the first event that names it. The map stacks has the stacks that were sent; a stack that
 * finds no room in the map is sent again each time, which loses nothing.
 *
 * The order holds across CPUs: a stack enters the map when its record is in the buffer, so
 * an event that finds the stack in the map gets a place behind that record.
 */
#ifndef TRACEKIT_BPF_STREAM_H
#define TRACEKIT_BPF_STREAM_H

#include "accounting.bpf.h"
#include "common.bpf.h"
#include "config.bpf.h"
#include "filter.bpf.h"
#include "insert.bpf.h"
#include "parts.bpf.h"
#include "scratch.bpf.h"
#include "unwind.bpf.h"

/* Sizes are set between open and load. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct stack_id);
	__type(value, __u8);
} stacks SEC(".maps");

/*
 * Lost events of each epoch so far. Events carry the count, so that readers know where some are
 * missing; user space maps it, for losses after the last event.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, NR_EPOCHS);
	__type(key, __u32);
	__type(value, __u64);
} lost_events SEC(".maps");

static __always_inline void count_lost(__u32 in_epoch)
{
	__u64 *lost = bpf_map_lookup_elem(&lost_events, &in_epoch);

	if (lost)
		__sync_fetch_and_add(lost, 1);
}

static __always_inline __u64 count_of_lost(__u32 in_epoch)
{
	const __u64 *lost = bpf_map_lookup_elem(&lost_events, &in_epoch);

	return lost ? READ_ONCE(*lost) : 0;
}

static __always_inline bool send_part(struct part_record *record)
{
	__u32 nr = READ_ONCE(record->part.nr);

	record->kind = RECORD_PART;
	return nr <= PART_FRAMES && !bpf_ringbuf_output(&events, record,
							offsetof(struct part_record, part.frames) +
								nr * sizeof(record->part.frames[0]),
							0);
}

/* False if user space does not have the part that was made, and there is no room to send it. */
static __always_inline bool name_part(struct part_record *record)
{
	const __u8 sent = 1;

	if (bpf_map_lookup_elem(&stacks, &record->id))
		return true;
	if (!send_part(record))
		return false;
	/* No room, or another CPU was faster: the next event finds the part there, or sends it. */
	(void)map_insert(&stacks, FILLABLE_STACKS, &record->id, &sent);
	return true;
}

/*
 * name_part() for all parts of the stack that was walked. The stack's id goes into the record of
 * the slot; {0, 0} without frames. A global function, as those of scratch.bpf.h: 0, or nonzero if
 * there is no room.
 */
__noinline int name_stack(__u32 number)
{
	struct scratch *scratch = scratch__find(number);

	if (!scratch)
		return 1;
	scratch->record.id = (struct stack_id){};
#pragma clang loop unroll(disable)
	for (__u32 i = STACK_PARTS; i-- > 0;) {
		if (i * PART_FRAMES >= READ_ONCE(scratch->stack.nr))
			continue;
		make_part(number, i * PART_FRAMES);
		if (!name_part(&scratch->record))
			return 1;
	}
	return 0;
}

/* Send the stack that the slot keeps, by whose raw id the event names it; 0: there is no room. */
__noinline int send_raw(__u32 number)
{
	struct scratch *scratch = scratch__find(number);
	struct raw_buffer *buffer = scratch ? raw__find(scratch->raw - 1) : NULL;

	if (!buffer)
		return 0;
	scratch->event.user = raw__id(scratch);
	buffer->stack.key.user = scratch->event.user;
	buffer->stack.key.epoch = scratch->epoch;
	return raw__send(scratch, buffer);
}

/*
 * Send a stack that has been walked later, by its raw id: user space runs it (BPF_PROG_TEST_RUN).
 * Nobody else has the stack, so it is not remembered. Returns 1, or 0 if all slots are in use.
 */
SEC("?raw_tp")
int take_walked(void *ctx __attribute__((unused)))
{
	const struct walked_stack *walked = raw__find_walked();
	struct scratch *scratch = walked ? raw__claim_walked(walked) : NULL;

	if (!scratch)
		return 0;
	scratch->record.id = (struct stack_id){};
#pragma clang loop unroll(disable)
	for (__u32 i = STACK_PARTS; i-- > 0;) {
		if (i * PART_FRAMES >= READ_ONCE(scratch->stack.nr))
			continue;
		make_part(scratch->number, i * PART_FRAMES);
		scratch->record.id = raw_id__of_part(walked->key.user, i);
		if (!send_part(&scratch->record))
			break;
	}
	count_event(scratch->epoch, EVENTS_WALKED);
	scratch__release(scratch);
	return 1;
}

/* Send the event of the slot, with its stacks, of which the kernel's has been walked. */
static __always_inline enum event_counter send_slot(void *ctx, enum user_walk user_walk,
						    struct scratch *scratch, bool walked)
{
	struct event_record *event = &scratch->event;

	if (!walked)
		return EVENTS_LOST_BUSY;
	if (config.kernel_stacks) {
		if (name_stack(scratch->number))
			return EVENTS_LOST_BUFFER_FULL;
		event->kernel = scratch->record.id;
	}
	if (config.user_stacks) {
		if (!unwind_user(ctx, user_walk, scratch))
			return EVENTS_LOST_BUSY;
		if (!scratch->raw || !send_raw(scratch->number)) {
			if (name_stack(scratch->number))
				return EVENTS_LOST_BUFFER_FULL;
			event->user = scratch->record.id;
		}
	}
	event->lost = count_of_lost(event->epoch);
	if (bpf_ringbuf_output(&events, event, sizeof(*event), 0))
		return EVENTS_LOST_BUFFER_FULL;
	return EVENTS_COUNTED;
}

/* A slot that has all of an event but its stacks; NULL if all are in use: the event is lost. */
static __always_inline struct scratch *claim_event(__u32 in_epoch, __u32 tgid, __u32 tid)
{
	struct scratch *scratch = scratch__claim(in_epoch, tgid);
	struct event_record *event;

	if (!scratch) {
		count_lost(in_epoch);
		return NULL;
	}
	event = &scratch->event;
	__builtin_memset(event, 0, sizeof(*event));
	event->time = bpf_ktime_get_ns();
	event->epoch = in_epoch;
	event->tgid = tgid;
	event->tid = tid;
	event->program = scratch->walk.program = current_program();
	event->cpu = bpf_get_smp_processor_id();
	if (config.tell_cgroups)
		event->cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(event->comm, sizeof(event->comm));
	return scratch;
}

#endif
