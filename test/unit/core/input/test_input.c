// SPDX-License-Identifier: GPL-2.0-or-later
/* The same trace, written in each format and read back, is the same flame graph. */
#include "core/input/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/flame/flame_tree.h"
#include "core/format/flame_stacks.h"
#include "core/format/format.h"
#include "core/names/frame_names.h"
#include "core/trace/accounting.h"
#include "core/trace/stacks.h"
#include "sym/types.h"
#include "sym/util/arena.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/read_stacks.h"
#include "test/unit/stack_frames.h"
#include "test/unit/tap.h"

#define KERNEL(n) (0xffffffff81000000 + (n))

static struct frame_place places[] = {
	{KERNEL(0x10), 0, false, 0}, {KERNEL(0x2020), 0, true, 0}, {0x1000, 42, false, 0},
	{0x2000, 42, true, 0},	     {0x3000, 42, true, 0},	   {0x4000, 42, true, 0},
	{0x5000, 42, true, 0},
};
static const struct sym_inlined inlined[] = {
	{.name = "min"},
	{.name = "std::max<int>(int; int)"},
};
static struct sym_query queries[] = {
	{.address = KERNEL(0x10), .name = "vfs_read", .module = "ext4"},
	{.address = KERNEL(0x2020), .return_address = true, .name = "do_syscall"},
	{.address = 0x1000,
	 .name = "read",
	 .path = "/lib/l.so",
	 .file_offset = 0x40,
	 .module = "l.so"},
	{.address = 0x2000,
	 .return_address = true,
	 .name = "\xc3\xa9 main",
	 .inlined = inlined,
	 .nr_inlined = ARRAY_SIZE(inlined),
	 .path = "/bin/a",
	 .file_offset = 0x1234,
	 .module = "a"},
	/* Without a name; so with a start; generated. */
	{.address = 0x3000,
	 .return_address = true,
	 .path = "/lib/l.so",
	 .file_offset = 0x5000,
	 .module = "l.so"},
	{.address = 0x4000,
	 .return_address = true,
	 .path = "/lib/l.so",
	 .file_offset = 0x5000,
	 .module = "l.so",
	 .function_start = 0x4800},
	{.address = 0x5000, .return_address = true, .generated = true, .name = "LJit;run"},
};
static const struct frame_names names = {
	.places = places, .queries = queries, .nr = ARRAY_SIZE(places)};

static struct arena arena;

#define FRAMES(...) FRAMES_IN(&arena, __VA_ARGS__)

/* Counted stacks that make use of all of it. */
static void make_stacks(struct counted_stack stacks[3])
{
	static const struct frames none;

	stacks[0] = (struct counted_stack){.key = {.tgid = 42, .comm = "a b"},
					   .count = 3,
					   .weight = 1500,
					   .kernel = FRAMES(KERNEL(0x10), KERNEL(0x2020)),
					   .user = FRAMES(0x1000, 0x2000)};
	stacks[1] = (struct counted_stack){.key = {.tgid = 42, .comm = "a b"},
					   .count = 4,
					   .weight = 2500,
					   .kernel = &none,
					   .user = FRAMES(0x1000, 0x5000, 0x4000, 0x3000, 0x2000)};
	stacks[2] = (struct counted_stack){.key = {.tgid = 42, .comm = "other"},
					   .count = 5,
					   .weight = 3500,
					   .kernel = FRAMES(KERNEL(0x10)),
					   .user = &none};
}

/* Written in a format, and read back. */
static struct reading read_back(struct flame_tree *tree, const struct format *format,
				const struct shown_stacks *shown, const char *sample_type)
{
	struct reading reading = {.tree = tree, .sample_type = sample_type};
	CLEANUP_FREE char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK_INT(format->write(out, shown), 0);
	fclose(out);
	read_bytes(&reading, text, size);
	CHECK_INT(reading.bad, 0);
	CHECK_STR(reading.refused, "");
	return reading;
}

/* The same, in a memory of its own. */
static char *drawn(const struct shown_stacks *shown)
{
	CLEANUP(flame_stacks__release) struct flame_stacks stacks = {0};

	CHECK_INT(flame_stacks__make(&stacks, shown), 0);
	return strdup(in_order(&stacks.tree));
}

/* Replace each occurrence of a part of text by one that is as long, or shorter. */
static void replace(char *text, const char *part, const char *by)
{
	for (char *at = text; (at = strstr(at, part)); at += strlen(by)) {
		memcpy(at, by, strlen(by));
		memmove(at + strlen(by), at + strlen(part), strlen(at + strlen(part)) + 1);
	}
}

static struct shown_stacks shown_of(struct stack_counts *counts,
				    const struct accounting *accounting)
{
	static struct counted_stack stacks[3];
	static const struct stack_layout layout;

	make_stacks(stacks);
	*counts = (struct stack_counts){.items = stacks, .nr = ARRAY_SIZE(stacks)};
	return (struct shown_stacks){.counts = counts,
				     .names = &names,
				     .layout = &layout,
				     .comms = true,
				     .style.annotations = true,
				     .accounting = accounting,
				     .unit = "samples",
				     .cost = "cpu",
				     .cost_unit = "nanoseconds",
				     .cost_each = 1000};
}

/* JSON knows all that a picture of the trace itself shows, but for marks in names (-a). */
static void json(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	const struct accounting accounting = {.events.n[EVENTS_COUNTED] = 12};
	struct stack_counts counts;
	struct shown_stacks shown = shown_of(&counts, &accounting);
	CLEANUP_FREE char *expected = NULL;

	shown.style.annotations = false;
	expected = drawn(&shown);
	replace(expected, " (inlined)", "");
	read_back(&tree, &format_json, &shown, NULL);
	CHECK_STR(in_order(&tree), expected);
}

/* pprof does not tell that code was generated. */
static void pprof(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	CLEANUP(flame_tree__release) struct flame_tree costs = {0};
	const struct accounting accounting = {.events.n[EVENTS_COUNTED] = 12};
	struct stack_counts counts;
	struct shown_stacks shown = shown_of(&counts, &accounting);
	struct reading reading;
	CLEANUP_FREE char *expected = NULL;

	shown.style.annotations = false;
	expected = drawn(&shown);
	replace(expected, " (inlined)", "");
	replace(expected, "LJit;run g", "LJit;run u");
	reading = read_back(&tree, &format_pprof, &shown, "samples");
	CHECK_STR(reading.unit, "samples");
	CHECK_STR(in_order(&tree), expected);
	reading = read_back(&costs, &format_pprof, &shown, NULL);
	CHECK_STR(reading.unit, "nanoseconds");
	CHECK_INT(costs.nodes[0].total, 12000);
}

/*
 * Folded lines do not tell the process from its frames, nor that code was generated, nor files, and
 * have another character for a semicolon.
 */
static void folded(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	const struct accounting accounting = {.events.n[EVENTS_COUNTED] = 12};
	struct stack_counts counts;
	struct shown_stacks shown = shown_of(&counts, &accounting);
	CLEANUP_FREE char *expected = NULL;

	shown.style.annotations = false;
	expected = drawn(&shown);
	shown.style.annotations = true;
	replace(expected, " (inlined)", "");
	replace(expected, "1 a b p", "1 a b u");
	replace(expected, "1 other p", "1 other u");
	replace(expected, "LJit;run g", "LJit:run u");
	replace(expected, "int; int", "int: int");
	replace(expected, "[unknown] (l.so)", "[unknown]");
	read_back(&tree, &format_folded, &shown, NULL);
	CHECK_STR(in_order(&tree), expected);
}

/* Stacks that last: JSON and pprof have nanoseconds, a picture microseconds. */
static void times(void)
{
	CLEANUP(flame_tree__release) struct flame_tree from_json = {0};
	CLEANUP(flame_tree__release) struct flame_tree from_pprof = {0};
	const struct accounting accounting = {.events.n[EVENTS_COUNTED] = 12};
	struct stack_counts counts;
	struct shown_stacks shown = shown_of(&counts, &accounting);
	CLEANUP_FREE char *expected = NULL;

	shown.cost_each = 0;
	CHECK_STR(read_back(&from_json, &format_json, &shown, NULL).unit, "nanoseconds");
	CHECK_STR(read_back(&from_pprof, &format_pprof, &shown, NULL).unit, "nanoseconds");
	CHECK_INT(from_json.nodes[0].total, 7500);
	expected = strdup(in_order(&from_json));
	replace(expected, "LJit;run g", "LJit;run u");
	CHECK_STR(in_order(&from_pprof), expected);
}

/* All of them at once: what is said alike is one frame, by the one that knows most. */
static void together(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {.by_name = true};
	const struct accounting accounting = {.events.n[EVENTS_COUNTED] = 12};
	struct stack_counts counts;
	struct shown_stacks shown = shown_of(&counts, &accounting);
	struct counted_stack *item = counts.items;

	counts.nr = 1;
	item->user = FRAMES(0x1000);
	shown.style.annotations = false;
	read_back(&tree, &format_folded, &shown, NULL);
	CHECK_STR(in_order(&tree), "1 a b u 0, 2 read u 0, 3 do_syscall u 0, 4 vfs_read u 3");
	read_back(&tree, &format_pprof, &shown, "samples");
	read_back(&tree, &format_json, &shown, NULL);
	read_back(&tree, &format_folded, &shown, NULL);
	CHECK_STR(in_order(&tree), "1 a b p 0, 2 read u 0, 3 do_syscall k 0, 4 vfs_read k 12");
	CHECK_STR(tree.nodes[2].module, "l.so");
	arena__release(&arena);
}

static const struct tap_test tests[] = {
	{"JSON, written and read", json},
	{"pprof, written and read", pprof},
	{"folded lines, written and read", folded},
	{"stacks that last", times},
	{"files of different kinds in one tree", together},
};

int main(void)
{
	return TAP_RUN(tests);
}
