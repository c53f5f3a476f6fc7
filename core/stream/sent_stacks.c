// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/stream/sent_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 16384

void sent_stacks__release(struct sent_stacks *stacks)
{
	arena__release(&stacks->arena);
	free(stacks->buckets);
	*stacks = (struct sent_stacks){0};
}

/* An id is a hash with a key that nobody knows. */
static struct sent_stack **bucket_of(const struct sent_stacks *stacks, struct stack_id id)
{
	return &stacks->buckets[id.hi % BUCKETS];
}

struct sent_stack *sent_stacks__find(const struct sent_stacks *stacks, struct stack_id id)
{
	struct sent_stack *stack = stacks->buckets ? *bucket_of(stacks, id) : NULL;

	while (stack && (stack->id.lo != id.lo || stack->id.hi != id.hi))
		stack = stack->next;
	return stack;
}

int sent_stacks__add(struct sent_stacks *stacks, struct stack_id id, const struct stack_part *part)
{
	const bool is_last = !part->next.lo && !part->next.hi;
	const struct sent_stack *next = is_last ? NULL : sent_stacks__find(stacks, part->next);
	uint32_t nr_next = next ? next->nr : 0;
	size_t bytes = sizeof(struct sent_stack) + (part->nr + nr_next) * sizeof(part->frames[0]);
	struct sent_stack **bucket, *sent;

	if ((!is_last && !next) || part->nr > STACK_SLOTS - nr_next)
		return -EPROTO;
	if (sent_stacks__find(stacks, id))
		return 0;
	if (!stacks->buckets)
		stacks->buckets = calloc(BUCKETS, sizeof(struct sent_stack *));
	sent = stacks->buckets ? arena__alloc(&stacks->arena, bytes) : NULL;
	if (!sent)
		return -ENOMEM;
	bucket = bucket_of(stacks, id);
	*sent = (struct sent_stack){.id = id, .next = *bucket, .nr = part->nr + nr_next};
	memcpy(sent->frames, part->frames, part->nr * sizeof(part->frames[0]));
	if (next)
		memcpy(sent->frames + part->nr, next->frames, nr_next * sizeof(part->frames[0]));
	*bucket = sent;
	stacks->nr++;
	stacks->bytes += bytes;
	return 0;
}
