// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/summary.h"

#include <stdlib.h>
#include <string.h>

#include "core/format/format.h"
#include "core/names/frame_names.h"
#include "core/trace/stacks.h"
#include "sym/types.h"
#include "sym/util/arena.h"
#include "sym/util/array.h"
#include "test/unit/stack_frames.h"
#include "test/unit/tap.h"

#define KERNEL(n) (0xffffffff81000000 + (n))

/* Answers for these frames, in the order of frame_names: the kernel's first. */
static struct frame_place places[] = {
	{KERNEL(0x10), 0, false, 0}, {KERNEL(0x20), 0, true, 0}, {KERNEL(0x30), 0, true, 0},
	{0x1000, 42, false, 0},	     {0x1000, 42, true, 0},	 {0x2000, 42, true, 0},
	{0x3000, 42, true, 0},	     {0x4000, 42, false, 0},
};
static const struct sym_inlined inlined[] = {{.name = "min"}};
static struct sym_query queries[] = {
	{.address = KERNEL(0x10), .name = "schedule"},
	{.address = KERNEL(0x20), .name = "pipe_read"},
	{.address = KERNEL(0x30), .name = "do_nanosleep"},
	{.address = 0x1000, .name = "malloc"},
	{.address = 0x1000, .name = "read"},
	{.address = 0x2000, .name = "main"},
	{.address = 0x3000, .name = "other"},
	{.address = 0x4000, .name = "outer", .inlined = inlined, .nr_inlined = 1},
};
static const struct frame_names names = {
	.places = places, .queries = queries, .nr = ARRAY_SIZE(places)};

_Static_assert(ARRAY_SIZE(places) == ARRAY_SIZE(queries), "each frame has its answer");

#define FRAMES(...) FRAMES_IN(&arena, __VA_ARGS__)

static struct arena arena;
static const struct frames no_frames;

static struct counted_stack make_stack(const struct frames *kernel, const struct frames *user,
				       uint64_t count, uint64_t weight)
{
	return (struct counted_stack){
		.key.tgid = 42, .kernel = kernel, .user = user, .count = count, .weight = weight};
}

#define CHECK_SUMMARY(kind, expected, ...)                                                         \
	check_summary(                                                                             \
		&(kind),                                                                           \
		&(struct stack_counts){.items = (struct counted_stack[]){__VA_ARGS__},             \
				       .nr = ARRAY_SIZE(((struct counted_stack[]){__VA_ARGS__}))}, \
		expected)

static void check_summary(const struct shown_stacks *kind, const struct stack_counts *counts,
			  const char *expected)
{
	struct shown_stacks shown = *kind;
	char text[512];

	shown.counts = counts;
	shown.names = &names;
	shown_stacks__describe(&shown, text, sizeof(text));
	CHECK_STR(text, expected);
}

static const struct shown_stacks samples = {.samples = true, .unit = "samples"};
static const struct shown_stacks events = {.unit = "events"};
static const struct shown_stacks waits = {.unit = "waits", .cost = "offcpu"};

static void innermost_of_samples(void)
{
	CHECK_SUMMARY(samples, "1 sample, 1 stack; 100.0% in malloc",
		      make_stack(&no_frames, FRAMES(0x1000, 0x2000), 1, 0));
	/* In the kernel, in the program, in an inlined function. */
	CHECK_SUMMARY(samples, "10 samples, 4 stacks; 50.0% in malloc",
		      make_stack(FRAMES(KERNEL(0x10)), FRAMES(0x1000, 0x2000), 3, 0),
		      make_stack(&no_frames, FRAMES(0x1000, 0x2000), 4, 0),
		      make_stack(&no_frames, FRAMES(0x1000, 0x3000), 1, 0),
		      make_stack(&no_frames, FRAMES(0x4000, 0x2000), 2, 0));
	CHECK_SUMMARY(samples, "3 samples, 2 stacks; 66.7% in min",
		      make_stack(&no_frames, FRAMES(0x1000), 1, 0),
		      make_stack(&no_frames, FRAMES(0x4000), 2, 0));
}

static void events_have_their_place(void)
{
	/* Who calls it says more. */
	CHECK_SUMMARY(events, "10 events, 2 stacks; 70.0% in other",
		      make_stack(&no_frames, FRAMES(0x1000, 0x2000), 3, 0),
		      make_stack(&no_frames, FRAMES(0x1000, 0x3000), 7, 0));
	CHECK_SUMMARY(events, "7 events, 1 stack; 100.0% in malloc",
		      make_stack(&no_frames, FRAMES(0x1000, 0x2000), 7, 0));
	/* Two functions, each with a good part. */
	CHECK_SUMMARY(events, "10 events, 2 stacks; 60.0% in malloc",
		      make_stack(&no_frames, FRAMES(0x4000, 0x2000), 4, 0),
		      make_stack(&no_frames, FRAMES(0x1000, 0x3000), 6, 0));
}

static void waits_by_their_time(void)
{
	CHECK_SUMMARY(
		waits, "4.000 s in 101 waits, 2 stacks; 75.0% in do_nanosleep",
		make_stack(FRAMES(KERNEL(0x10), KERNEL(0x20)), FRAMES(0x1000), 100, 1000000000),
		make_stack(FRAMES(KERNEL(0x10), KERNEL(0x30)), FRAMES(0x1000), 1, 3000000000));
	/* One place in the kernel: who called that. */
	CHECK_SUMMARY(waits, "0.500 s in 1 wait, 1 stack; 100.0% in malloc",
		      make_stack(FRAMES(KERNEL(0x10), KERNEL(0x30)), FRAMES(0x1000, 0x2000), 1,
				 500000000));
	/* A thread of the kernel. */
	CHECK_SUMMARY(waits, "0.500 s in 2 waits, 1 stack; 100.0% in schedule",
		      make_stack(FRAMES(KERNEL(0x10), KERNEL(0x30)), &no_frames, 2, 500000000));
}

static void nothing(void)
{
	const struct stack_counts none = {0};

	check_summary(&samples, &none, "0 samples, 0 stacks");
	check_summary(&waits, &none, "0.000 s in 0 waits, 0 stacks");
	CHECK_SUMMARY(samples, "5 samples, 1 stack", make_stack(&no_frames, &no_frames, 5, 0));
	/* A mark is no function. */
	CHECK_SUMMARY(samples, "5 samples, 1 stack",
		      make_stack(&no_frames, FRAMES(frame_mark(MARK_CUT, 1)), 5, 0));
}

static const struct tap_test tests[] = {
	{"of samples the innermost function", innermost_of_samples},
	{"of events the function that says most", events_have_their_place},
	{"of waits that with most of the time", waits_by_their_time},
	{"stacks without functions, and none", nothing},
};

int main(void)
{
	int status = TAP_RUN(tests);

	arena__release(&arena);
	return status;
}
