// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/perf_script.h"

#include <string.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/read_stacks.h"
#include "test/unit/tap.h"

static void samples(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	const struct reading reading = read_text(
		&tree, "# captured on    : Thu\n#\n"
		       "V8 Worker 1 26940/26941 [001] 23526.777256:    1001001 cpu-clock:ppp: \n"
		       "\tffffffff8168a1a5 get+0x85 ([kernel.kallsyms])\n"
		       "\tffffffffc0abcdef ext4_read+0x5 ([ext4])\n"
		       "\tffffffffc0abcdef xfs_read+0x5 (/lib/modules/6.1/kernel/fs/xfs.ko.xz)\n"
		       "\t           98109 min (inlined)\n"
		       "\t           98109 operator()(int) const+0xda9 (/usr/lib/libc (2).so.6)\n"
		       "\t    7f9c1e06d0f6 LApp;run+0x1f (/tmp/perf-26940.map)\n"
		       "\t    7f9c1e06d0f6 [unknown] (/tmp/gone (deleted))\n"
		       "\t               0 [unknown] ([unknown])\n\n"
		       "perf 1 [000] 1.5: 1 cpu-clock:ppp: \n"
		       "\t    7ffd0d5f2a3b __vdso_time+0x3 ([vdso])\n"
		       "\tffffffffff600000 gettimeofday ([vsyscall])");

	CHECK_STR(in_order(&tree),
		  "1 V8 Worker 1 p 0, 2 [unknown] x 0, 3 [unknown] (gone (deleted)) x 0, "
		  "4 LApp;run g 0, 5 operator()(int) const u 0, 6 min i 0, 7 xfs_read k 0, "
		  "8 ext4_read k 0, 9 get k 1, 1 perf p 0, 2 gettimeofday u 0, 3 __vdso_time u 1");
	CHECK_INT(reading.bad, 0);
	CHECK_INT(reading.nr_notes, 0);
	CHECK_STR(reading.unit, "samples");
}

/* What -F leaves of the line of a sample and of a frame. */
static void fields(void)
{
	static const struct {
		const char *header, *process;
	} cases[] = {
		{"a b 12/13 [000] 1.5: 7 cycles:u: ", "1 a b p 0, "},
		{"a b 12/13 1.5: cycles:u: ", "1 a b p 0, "},
		{"a b 12 [000] cycles: ", "1 a b p 0, "},
		{"a b 1.5: cycles: ", "1 a b p 0, "},
		{"a b [000] 1.5: ", "1 a b p 0, "},
		{"a b 12 cycles: ", "1 a b p 0, "},
		{"a b 12 ", "1 a b p 0, "},
		{"a b ", "1 a b p 0, "},
		{"a b cycles:u: ", "1 a b p 0, "},
		{"12 ", ""},
		{"12/13 [000] 1.5: 1 cycles: ", ""},
		{"cycles: ", ""},
		{"", ""},
		/* The arguments of a tracepoint. */
		{"a b 12/13 [000] 1.5: sched:sched_switch: prev_comm=x prev_pid=1 ==> next:",
		 "1 a b p 0, "},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(flame_tree__release) struct flame_tree tree = {0};
		char text[512], expected[128];
		int depth = cases[i].process[0] ? 2 : 1;

		snprintf(text, sizeof(text),
			 "%s\n\tffffffff8168a1a5 g\n\t           3024d main(int)\n  main.c:12\n"
			 "\t           3024d \n\n%s\n\tffffffff8168a1a5 g\n\n",
			 cases[i].header, cases[i].header);
		read_text(&tree, text);
		snprintf(expected, sizeof(expected),
			 "%s%d [unknown] x 0, %d main(int) u 0, %d g k 1, %d g k 1",
			 cases[i].process, depth, depth + 1, depth + 2, depth);
		CHECK_STR(in_order(&tree), expected);
	}
}

/* Without call chains the only frame stands in the line of the sample. */
static void no_chains(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};

	read_text(&tree, "            bash 28329 23538.115357:    1001001 cpu-clock:ppp:      "
			 "561cc7f83b0c [unknown] (/usr/bin/bash)\n"
			 "            cafe 28329 23538.116629:    1001001 cpu-clock:ppp:  "
			 "ffffffff821f5127 exc_page_fault+0xd7 ([kernel.kallsyms])\n");
	CHECK_STR(in_order(&tree), "1 bash p 0, 2 [unknown] (bash) x 1, 1 cafe p 0, "
				   "2 exc_page_fault k 1");
}

static void stacksnoop(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};

	read_text(&tree, "a 1 2 12/13 [003] 42.132250004: 1 c:malloc: \n"
			 "\tffffffff81280461 ext4_sync_fs+0x12 ([ext4])\n"
			 "\t    7f0000001000 [libfoo.so+0x1200]+0x5 (/lib/libfoo.so)\n"
			 "\t               0 [unwind stopped: no rule] ([unknown])\n\n");
	CHECK_STR(in_order(&tree), "1 a 1 2 p 0, 2 [unwind stopped: no rule] m 0, "
				   "3 [libfoo.so+0x1200] x 0, 4 ext4_sync_fs k 1");
}

static void other_events(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	const struct reading reading = read_text(
		&tree, "a 1 1.5: 7 cycles: \n\t               0 f\n\na 1 1.5: 7 page-faults: \n"
		       "\t               0 g\n\na 1 1.5: 7 page-faults: \n\na 1 1.5: 7 cycles: \n");

	CHECK_STR(in_order(&tree), "1 a p 1, 2 f u 1");
	CHECK_INT(reading.nr_notes, 1);
	CHECK_STR(reading.notes[0], "2 samples of other events than 'cycles' are left out");
}

static void hostile(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};

	read_text(&tree,
		  "\x1b[2J 1 1.5: 7 c: \n\t0 ((((\n\t0 ))))\n\t0 )\n\t0 (\n\t0 ()\n\t0 f ()\n"
		  "\t0 +0x1\n\t0 g+0x (/)\n\t\n \n\t\x1b\n");
	CHECK_STR(in_order(&tree), "1 ?[2J p 0, 2 g+0x u 0, 3 [unknown] x 0, 4 f u 0, "
				   "5 [unknown] x 0, 6 ( u 0, 7 ) u 0, 8 )))) u 0, 9 (((( u 1");
}

static void long_lines(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	struct reading reading = {.tree = &tree};
	static char text[3 * 1024 * 1024];
	size_t length = (size_t)sprintf(text, "a 1 1.5: 7 c: \n\t0 ");

	memset(text + length, 'f', 2 * 1024 * 1024);
	strcpy(text + length + 2 * 1024 * 1024, "\n\t0 main\n\n");
	read_bytes(&reading, text, strlen(text));
	CHECK_INT(reading.bad, 1);
	CHECK_INT(reading.first_bad[0].number, 2);
	CHECK_STR(reading.first_bad[0].reason, "longer than 1 MB");
	CHECK_STR(in_order(&tree), "1 a p 0, 2 main u 1");
}

static const struct tap_test tests[] = {
	{"samples of perf, with all kinds of frames", samples},
	{"with the fields that -F leaves", fields},
	{"without call chains", no_chains},
	{"events of stacksnoop", stacksnoop},
	{"several events: the first one counts", other_events},
	{"lines that are nearly frames", hostile},
	{"a line of two megabytes", long_lines},
};

int main(void)
{
	return TAP_RUN(tests);
}
