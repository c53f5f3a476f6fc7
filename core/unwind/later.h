/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that are walked later (bpf/raw_stack.h): they are kept until the tables of their files
 * have come, walked, and handed to the programs, which count or send them as any other. For the
 * loader (core/unwind/loading.h).
 */
#ifndef TRACEKIT_CORE_UNWIND_LATER_H
#define TRACEKIT_CORE_UNWIND_LATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/kernel/ring.h"
#include "core/unwind/raw_walks.h"

struct bpf_map;
struct unwind_tables;

/* What that needs of a loaded object; borrowed. */
struct later_setup {
	struct bpf_map *raw_stacks, *buffers, *walked;
	int take; /* the program take_walked, or -1: no stacks come */
	struct raw_walk_settings settings;
};

struct later_stack {
	struct raw_stack *raw;
	size_t size;
	uint64_t until; /* waits for its tables no longer, by monotonic_now() */
	bool asked_for; /* a report waits for it */
};

/* All zero is: none are kept, and none come. */
struct later {
	const struct later_setup *setup;
	struct ring ring;
	struct walked_stack *walked; /* what the program reads, mapped */
	struct later_stack *stacks;  /* in the order of their places in room */
	size_t nr, capacity;
	unsigned char *room; /* mapped: touched only as far as it was ever used */
	size_t used;
	size_t nr_asked_for;
};

/* Returns 0 or a negative errno. */
int later__open(struct later *later, const struct later_setup *setup);

/*
 * Take what has come, as far as there is room; want is called for each stack. Returns false if
 * there is no room for all.
 */
bool later__take(struct later *later, void (*want)(void *context, const struct raw_stack *raw),
		 void *context);

/* A report waits for the stacks that are kept now: until then, at most. */
void later__ask_for_all(struct later *later, uint64_t until);

/* Walk the stacks whose tables are there, and those that have waited long enough; or all. */
void later__walk(struct later *later, const struct unwind_tables *tables, bool all);

#endif
