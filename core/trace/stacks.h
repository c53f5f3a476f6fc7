/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counted stacks, read from the maps of the BPF programs. */
#ifndef TRACEKIT_CORE_TRACE_STACKS_H
#define TRACEKIT_CORE_TRACE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "sym/util/arena.h"

struct trace_maps;
struct error;

/* The frames of a stack, leaf first, tagged as in bpf/abi.h. */
struct frames {
	uint32_t nr;
	uint64_t frames[];
};

/* True if frame i is an address that a call returns to. */
static inline bool frame__is_return_address(uint64_t frame, uint32_t i)
{
	return i > 0 && !frame_is_interrupted(frame);
}

struct counted_stack {
	struct stack_key key;
	uint64_t count;
	uint64_t weight;	     /* of all events, in nanoseconds; 0: they do not last */
	uint64_t cgroup;	     /* of the process; 0: not kept */
	const struct frames *kernel; /* never NULL */
	const struct frames *user;   /* never NULL */
	uint32_t hidden; /* how many of kernel, at the leaf, are not shown: the probe's own */
};

struct stack_counts {
	struct counted_stack *items;
	size_t nr;
	struct arena frames; /* each distinct stack once */
};

/*
 * Read the counts of an epoch from the maps counts and stacks; it has ended, or its programs have
 * stopped. Sorted as printed: by weight and count, least first, then by comm, tgid and addresses,
 * so that the same data has the same order. Returns 0 or a negative errno with error filled and
 * counts empty.
 */
int stack_counts__read(struct stack_counts *counts, const struct trace_maps *maps, uint32_t epoch,
		       struct error *error);

/*
 * Hide the frames at the leaf of kernel stacks for which is_own() is true: a probe puts them on top
 * of its place. Stacks that then look the same become one, and all are sorted again.
 */
void stack_counts__hide(struct stack_counts *counts,
			bool (*is_own)(const void *context, uint64_t frame, bool return_address),
			const void *context);
void stack_counts__release(struct stack_counts *counts);

#endif
