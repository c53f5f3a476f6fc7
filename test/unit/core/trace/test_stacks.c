// SPDX-License-Identifier: GPL-2.0-or-later
/* Traces test how stacks are read from maps; here: what is made of them. */
#include "core/trace/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"
#include "test/unit/stack_frames.h"
#include "test/unit/tap.h"

#define KERNEL(n) (0xffffffff81000000 + (n))

/* Frames of the tracing itself, in these tests: those in the kernel below 0x100. */
static bool is_own(const void *context, uint64_t frame, bool return_address)
{
	bool *asked_for_leaf = (bool *)context;

	if (asked_for_leaf)
		*asked_for_leaf |= !return_address;
	return frame_tag(frame) == FRAME_KERNEL && frame < KERNEL(0x100);
}

static struct counted_stack items[8];
static struct stack_counts counts;

#define FRAMES(...) FRAMES_IN(&counts.frames, __VA_ARGS__)
#define NO_FRAMES   make_frames(&counts.frames, NULL, 0)

static void add(const char *comm, uint32_t tgid, uint64_t count, const struct frames *kernel,
		const struct frames *user)
{
	struct counted_stack *item = &items[counts.nr++];

	*item = (struct counted_stack){
		.key.tgid = tgid, .count = count, .kernel = kernel, .user = user};
	memcpy(item->key.comm, comm, strlen(comm));
	counts.items = items;
}

/* "comm count kernel frames/user frames" of each item, as it is now shown. */
static const char *shown(void)
{
	static char result[1024];
	int used = 0;

	result[0] = '\0';
	for (size_t i = 0; i < counts.nr; i++) {
		const struct counted_stack *item = &counts.items[i];

		used += snprintf(result + used, sizeof(result) - (size_t)used, "%s%.16s %lu",
				 i ? "; " : "", item->key.comm, (unsigned long)item->count);
		for (uint32_t k = item->hidden; k < item->kernel->nr; k++)
			used += snprintf(result + used, sizeof(result) - (size_t)used, " k%lx",
					 (unsigned long)(item->kernel->frames[k] - KERNEL(0)));
		for (uint32_t u = 0; u < item->user->nr; u++)
			used += snprintf(result + used, sizeof(result) - (size_t)used, " %lx",
					 (unsigned long)item->user->frames[u]);
	}
	arena__release(&counts.frames);
	counts = (struct stack_counts){0};
	return result;
}

static void hides_at_the_leaf(void)
{
	bool asked_for_leaf = false;

	add("a", 1, 5, FRAMES(KERNEL(1), KERNEL(2), KERNEL(0x100), KERNEL(3)), FRAMES(0x1000));
	stack_counts__hide(&counts, is_own, &asked_for_leaf);
	/* 3, which is not at the leaf, stays. */
	CHECK_STR(shown(), "a 5 k100 k3 1000");
	CHECK(asked_for_leaf);
}

static void hides_all_or_nothing(void)
{
	add("a", 1, 5, FRAMES(KERNEL(1), KERNEL(2)), FRAMES(0x1000));
	add("b", 1, 6, NO_FRAMES, FRAMES(0x10));
	add("c", 1, 7, FRAMES(KERNEL(0x100)), NO_FRAMES);
	add("d", 1, 8, NO_FRAMES, NO_FRAMES);
	stack_counts__hide(&counts, is_own, NULL);
	CHECK_STR(shown(), "a 5 1000; b 6 10; c 7 k100; d 8");
	stack_counts__hide(&counts, is_own, NULL);
	CHECK_STR(shown(), "");
}

static void stacks_that_look_the_same_are_one(void)
{
	add("a", 1, 5, FRAMES(KERNEL(1), KERNEL(0x100)), FRAMES(0x1000));
	add("a", 1, 1, FRAMES(KERNEL(0x100)), FRAMES(0x1000));
	add("a", 1, 9, FRAMES(KERNEL(0x200)), FRAMES(0x1000));
	add("a", 1, 10, FRAMES(KERNEL(2), KERNEL(3), KERNEL(0x100)), FRAMES(0x1000));
	stack_counts__hide(&counts, is_own, NULL);
	/* The sum has gone behind what was more frequent than its parts. */
	CHECK_STR(shown(), "a 9 k200 1000; a 16 k100 1000");
}

static void others_stay_apart(void)
{
	add("a", 1, 5, FRAMES(KERNEL(1), KERNEL(0x100)), FRAMES(0x1000));
	add("a", 2, 5, FRAMES(KERNEL(2), KERNEL(0x100)), FRAMES(0x1000));
	add("b", 1, 5, FRAMES(KERNEL(1), KERNEL(0x100)), FRAMES(0x1000));
	add("a", 1, 5, FRAMES(KERNEL(1), KERNEL(0x100)), FRAMES(0x2000));
	add("a", 1, 5, FRAMES(KERNEL(1), KERNEL(0x100), KERNEL(0x100)), FRAMES(0x1000));
	stack_counts__hide(&counts, is_own, NULL);
	CHECK_STR(shown(), "a 5 k100 1000; a 5 k100 k100 1000; a 5 k100 2000; a 5 k100 1000; "
			   "b 5 k100 1000");
}

static void order_is_that_of_what_is_shown(void)
{
	/* Ties: by what is shown, not by what is hidden. */
	add("a", 1, 5, FRAMES(KERNEL(1), KERNEL(0x300)), NO_FRAMES);
	add("a", 1, 5, FRAMES(KERNEL(9), KERNEL(0x200)), NO_FRAMES);
	add("a", 1, 4, FRAMES(KERNEL(0x400)), NO_FRAMES);
	stack_counts__hide(&counts, is_own, NULL);
	CHECK_STR(shown(), "a 4 k400; a 5 k200; a 5 k300");
}

/* What lasts counts by its time; threads, and what has not ended, stay apart. */
static void waits(void)
{
	const struct frames *user = FRAMES(0x1000);

	add("a", 1, 1, FRAMES(KERNEL(1)), user);
	items[0].weight = 300;
	add("b", 1, 9, NO_FRAMES, user);
	items[1].weight = 200;
	add("a", 1, 2, FRAMES(KERNEL(2)), user);
	items[2].weight = 50;
	add("a", 1, 3, FRAMES(KERNEL(2)), user);
	items[3].weight = 10;
	items[3].key.tid = 7;
	add("a", 1, 4, FRAMES(KERNEL(2)), user);
	items[4].weight = 20;
	items[4].key.lasts = true;
	stack_counts__hide(&counts, is_own, NULL);
	CHECK_INT(items[3].weight, 350);
	CHECK_STR(shown(), "a 3 1000; a 4 1000; b 9 1000; a 3 1000");
}

static const struct tap_test tests[] = {
	{"own frames are hidden at the leaf, and only there", hides_at_the_leaf},
	{"stacks that are all own, or not at all, or empty", hides_all_or_nothing},
	{"stacks that then look the same are one, and in its place",
	 stacks_that_look_the_same_are_one},
	{"other processes, comms and frames stay apart", others_stay_apart},
	{"the order is that of what is shown", order_is_that_of_what_is_shown},
	{"what lasts: by its time", waits},
};

int main(void)
{
	return TAP_RUN(tests);
}
