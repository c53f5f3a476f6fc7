/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stacks of a stream, by the ids that its events name them by. */
#ifndef TRACEKIT_CORE_STREAM_SENT_STACKS_H
#define TRACEKIT_CORE_STREAM_SENT_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "sym/util/arena.h"

struct shown_frame;

/* A stack that was sent; and how it is shown, see core/stream/names.h. */
struct sent_stack {
	struct stack_id id;
	struct sent_stack *next; /* in its bucket */
	uint32_t nr;
	uint32_t shown_version, shown_tgid;
	uint64_t shown_program;
	bool shown_whole, shown_generated;
	struct shown_frame **shown; /* as many as there are frames, if there are any */
	uint64_t frames[];
};

/* The stacks of one epoch. All zero is an empty one. */
struct sent_stacks {
	struct arena arena;
	struct sent_stack **buckets; /* NULL until there is a stack */
	size_t nr, bytes;
};

void sent_stacks__release(struct sent_stacks *stacks);

/* NULL if there is none. */
struct sent_stack *sent_stacks__find(const struct sent_stacks *stacks, struct stack_id id);

/*
 * Add the stack that begins with part and goes on with the stack part->next, which must be there,
 * if any. Does nothing if the stack is there already. Returns 0, -EPROTO if part->next is not there
 * or the frames are too many, or -ENOMEM.
 */
int sent_stacks__add(struct sent_stacks *stacks, struct stack_id id, const struct stack_part *part);

#endif
