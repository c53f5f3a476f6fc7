// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/folded_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/flame/flame_tree.h"
#include "core/input/bytes.h"
#include "sym/util/cleanup.h"
#include "test/unit/read_stacks.h"
#include "test/unit/tap.h"

static void stacks(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	const struct reading lines =
		read_text(&tree, "main;work 3\nmain;work;operator new(unsigned long) 2\r\n\n"
				 "main;work\t4\n  \nmain 0\nlast  1");

	CHECK_INT(lines.bad, 0);
	CHECK_INT(lines.stacks, 5);
	CHECK_INT(tree.nodes[0].total, 10);
	CHECK_STR(in_order(&tree), "1 last u 1, 1 main u 0, 2 work u 7, "
				   "3 operator new(unsigned long) u 2");
}

static void kinds(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};

	read_text(&tree, "a;LFoo_[j];f_[i];-;sys;vfs 1\nb;read_[k] 1\nc;[unknown] 1\n"
			 "d;[libc.so.6] 1\ne;;x 1\nf;[unwind stopped: no rule] 1\ng;_[k] 1\n");
	CHECK_STR(in_order(&tree),
		  "1 a u 0, 2 LFoo g 0, 3 f i 0, 4 - m 0, 5 sys k 0, 6 vfs k 1, 1 b u 0, "
		  "2 read k 1, 1 c u 0, 2 [unknown] x 1, 1 d u 0, 2 [libc.so.6] x 1, 1 e u 0, "
		  "2 [unknown] x 0, 3 x u 1, 1 f u 0, 2 [unwind stopped: no rule] m 1, 1 g u 0, "
		  "2 _[k] u 1");
	read_text(&tree, "h;[l.so+0x12] 1\ni;[l.so+0x12]+0x3 1\nj;[l.so+0x12] (l.so+0x15) 1\n"
			 "k;[l.so+0x12]:a.c:4 1\nl;[]x 1\nm;[x 1\n");
	CHECK(strstr(in_order(&tree), "1 h u 0, 2 [l.so+0x12] x 1, 1 i u 0, 2 [l.so+0x12]+0x3 x 1, "
				      "1 j u 0, 2 [l.so+0x12] (l.so+0x15) x 1, 1 k u 0, "
				      "2 [l.so+0x12]:a.c:4 x 1, 1 l u 0, 2 []x u 1, 1 m u 0, "
				      "2 [x u 1") != NULL);
	/* Names of threads; a stack of one frame has none. */
	read_text(&tree, "[ET_NET 0];x 1\n[net];x 1\n[n.so+0x1];x 1\n[unknown];x 1\n[o.so] 1\n");
	CHECK(strstr(in_order(&tree), "1 [ET_NET 0] u 0, 2 x u 1, 1 [n.so+0x1] x 0, "
				      "2 x u 1, 1 [net] u 0, 2 x u 1, 1 [o.so] x 1, "
				      "1 [unknown] x 0, 2 x u 1") != NULL);
}

static void bad_lines(void)
{
	static const struct {
		const char *line, *reason;
	} cases[] = {
		{"a;b", "no count at its end"},
		{"a;b -3", "no count at its end"},
		{"a;b 3x", "no count at its end"},
		{"a;b 1.2.3", "no count at its end"},
		{"a;b .5", "no count at its end"},
		{"a;b 1e5", "no count at its end"},
		{"a;b 99999999999999999999", "its count is too large"},
		{"a;b 9223372036854775807", "its count makes the sum too large"},
		{"7", "no stack before its count"},
		{"  7", "no stack before its count"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(flame_tree__release) struct flame_tree tree = {0};
		struct reading lines;
		char text[256];

		snprintf(text, sizeof(text), "a;b 1\n\n%s\na;b 2\n", cases[i].line);
		lines = read_text(&tree, text);
		CHECK_INT(lines.bad, 1);
		CHECK_INT(lines.first_bad[0].number, 3);
		CHECK_STR(lines.first_bad[0].reason, cases[i].reason);
		CHECK_STR(in_order(&tree), "1 a u 0, 2 b u 3");
	}
}

static void many_bad_lines(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	char text[512] = "";

	for (int i = 0; i < 2 * READING_BAD_MAX; i++)
		strcat(text, "bad\n");
	CHECK_INT(read_text(&tree, strcat(text, "a 1")).bad, 2 * READING_BAD_MAX);
	CHECK_STR(in_order(&tree), "1 a u 1");
}

static void fractions(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	const struct reading lines = read_text(&tree, "a 1.5\nb 1.4999\nc 2.0\nd 3.\ne 4\n");

	CHECK_INT(lines.bad, 0);
	CHECK_INT(lines.nr_notes, 1);
	CHECK_STR(lines.notes[0], "4 counts have a fraction, and were rounded");
	CHECK_STR(in_order(&tree), "1 a u 2, 1 b u 1, 1 c u 2, 1 d u 3, 1 e u 4");
}

/* As difffolded.pl writes, or only alike. */
static void two_counts(void)
{
	static const struct {
		const char *text;
		bool refused;
	} cases[] = {
		{"a;g 10 1\na;g 11 2\n", false},
		{"a;g 10 1\nb 2 3\na;g\t11 2\n", false},
		{"a;g 10 1\na;h 1\n", false},
		{"a;g 10 1\n", true},
		{"a;g 10 1\na;h 11 2\n", true},
		{"a;g 1 10 1\na;g 2 11 2\n", true},
		{"a;g10 1\n", false},
		{"7 1\n", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(flame_tree__release) struct flame_tree tree = {0};
		const struct reading lines = read_text(&tree, cases[i].text);

		tap_check((lines.refused[0] != '\0') == cases[i].refused, __FILE__, __LINE__,
			  "'%s': '%s'", cases[i].text, lines.refused);
	}
}

static void hostile(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	struct reading lines = {.tree = &tree};
	static const char text[] = "\x1b[2J;a\0b;\xff\xfe;\xe2\x80\xae;\xc3\xa9 1\n";

	read_bytes(&lines, text, sizeof(text) - 1);
	CHECK_STR(in_order(&tree), "1 ?[2J u 0, 2 a?b u 0, 3 ?? u 0, 4 ? u 0, 5 \xc3\xa9 u 1");
}

static void zero_in_count(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	static const char text[] = "a 5\0junk\na 6\0\nb 1\n";
	struct reading lines = {.tree = &tree};

	read_bytes(&lines, text, sizeof(text) - 1);
	CHECK_INT(lines.bad, 2);
	CHECK_STR(lines.first_bad[0].reason, "no count at its end");
	CHECK_STR(lines.first_bad[1].reason, "no count at its end");
	CHECK_STR(in_order(&tree), "1 b u 1");
}

static void long_lines(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	size_t size = 3 * BYTES_LINE_MAX;
	CLEANUP_FREE char *text = malloc(size);
	struct reading lines = {.tree = &tree};

	/* One as long as can be, one that is longer, and one behind it. */
	memset(text, 'x', size);
	memcpy(text + BYTES_LINE_MAX - 2, " 1\n", 3);
	memcpy(text + 2 * BYTES_LINE_MAX + 2, " 1\n", 3);
	memcpy(text + size - 5, "\nz 2\n", 5);
	read_bytes(&lines, text, size);
	CHECK_INT(lines.bad, 2);
	CHECK_INT(lines.first_bad[0].number, 2);
	CHECK_STR(lines.first_bad[0].reason, "longer than 1 MB");
	CHECK_INT(lines.stacks, 2);
	CHECK_INT(tree.nodes[0].total, 3);
}

static void deep(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	size_t nr = 100 * 1000;
	CLEANUP_FREE char *text = malloc(2 * nr + 2);

	for (size_t i = 0; i < nr; i++)
		memcpy(text + 2 * i, "f;", 2);
	memcpy(text + 2 * nr - 1, " 7", 3);
	CHECK_INT(read_text(&tree, text).bad, 0);
	CHECK_INT(tree.nr, nr + 1);
	CHECK_INT(tree.nodes[nr].self, 7);
}

static void unreadable(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	struct reading lines = {.tree = &tree};

	CHECK_INT(input__read(&lines, open("/", O_RDONLY)), -EISDIR);
}

static const struct tap_test tests[] = {
	{"stacks, with whatever space is between them and their counts", stacks},
	{"kinds of frames", kinds},
	{"lines that are no stacks are left out, and told", bad_lines},
	{"many of these are counted", many_bad_lines},
	{"counts with a fraction are rounded", fractions},
	{"two counts in each line are not stacks", two_counts},
	{"bytes that a terminal would obey", hostile},
	{"a byte of zero in a count", zero_in_count},
	{"lines of a megabyte, and more", long_lines},
	{"a stack of 100,000 frames", deep},
	{"a folder", unreadable},
};

int main(void)
{
	return TAP_RUN(tests);
}
