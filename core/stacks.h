/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the BPF programs counted, read from their maps. */
#ifndef TRACEKIT_CORE_STACKS_H
#define TRACEKIT_CORE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "core/util/arena.h"

struct trace_maps;
struct error;

/* The frames of a stack, leaf first, tagged as in bpf/abi.h. */
struct frames {
	uint32_t nr;
	uint64_t frames[];
};

/* Whether frame i is an address that a call returns to: all but the leaf. */
static inline bool frames__return_address(uint32_t i)
{
	return i > 0;
}

struct counted_stack {
	struct stack_key key;
	uint64_t count;
	const struct frames *kernel; /* never NULL */
	const struct frames *user;   /* never NULL */
};

struct stack_counts {
	struct counted_stack *items;
	size_t nr;
	struct arena frames; /* each distinct stack once */
};

/*
 * Read the maps counts and stacks; the programs that write them must have stopped. Sorted as they
 * are printed: by count, least first, then by comm, tgid and addresses, so that the order is the
 * same whenever the data is. Returns 0 or a negative errno with error filled and counts empty.
 */
int stack_counts__read(struct stack_counts *counts, const struct trace_maps *maps,
		       struct error *error);
void stack_counts__release(struct stack_counts *counts);

#endif
