/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks of raw stacks (bpf/raw_stack.h) by the tables that are loaded now: by the same code as in
 * the kernel (bpf/host/walker.h), in a child in the sandbox.
 */
#ifndef TRACEKIT_CORE_UNWIND_RAW_WALKS_H
#define TRACEKIT_CORE_UNWIND_RAW_WALKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "bpf/raw_stack.h"

struct unwind_tables;

/* How stacks are walked, as in struct trace_config. */
struct raw_walk_settings {
	uint32_t max_depth;
	bool frame_pointers;
};

struct raw_walk {
	const struct raw_stack *raw;
	/* The result, as of walker__walk(). */
	enum unwind_end end;
	uint32_t nr;
	uint64_t frames[STACK_SLOTS];
};

/*
 * Walk the nr stacks of the array, and call take for each in its turn: walk has the result until it
 * returns. A child that ends too early has the rest walked by another one, but for the stack at
 * which it ended: of that there is the first frame.
 */
void raw_walks__run(const struct unwind_tables *tables, const struct raw_walk_settings *settings,
		    const struct raw_stack *const *stacks, size_t nr,
		    void (*take)(void *context, const struct raw_walk *walk), void *context);

#endif
