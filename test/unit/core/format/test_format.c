// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/names/frame_names.h"
#include "core/report/output.h"
#include "core/trace/accounting.h"
#include "core/trace/stacks.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/text.h"
#include "test/unit/stack_frames.h"
#include "test/unit/tap.h"

/* ---- text__clean() ---- */

/* The clean form of a name; it ends with its NUL. */
static const char *clean(const char *name, bool folded)
{
	static char result[256];
	size_t length = text__clean(name, strlen(name), folded, result, sizeof(result));

	CHECK_INT(length, strlen(result));
	return result;
}

/* Both forms leave name as it is. */
static void check_kept(const char *name)
{
	CHECK_STR(clean(name, false), name);
	CHECK_STR(clean(name, true), name);
}

static void check_replaced(const char *name, const char *expected)
{
	CHECK_STR(clean(name, false), expected);
	CHECK_STR(clean(name, true), expected);
}

static void ascii(void)
{
	for (int c = 1; c < 0x80; c++) {
		const char name[] = {'a', (char)c, 'b', '\0'};

		if (c < ' ' || c == 0x7f)
			check_replaced(name, "a?b");
		else if (c != ';')
			check_kept(name);
	}
	CHECK_STR(clean("a;b;", false), "a;b;");
	CHECK_STR(clean("a;b;", true), "a:b:");
}

static void nul_inside(void)
{
	char result[8];

	CHECK_INT(text__clean("a\0b", 3, false, result, sizeof(result)), 3);
	CHECK_STR(result, "a?b");
}

/* Writes code as UTF-8 of the given length, whether or not that is its shortest form. */
static void encode(uint32_t code, size_t size, char text[5])
{
	static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};

	memset(text, 0, 5);
	for (size_t i = size; i-- > 1; code >>= 6)
		text[i] = (char)(0x80 | (code & 0x3F));
	text[0] = (char)(leads[size] | code);
}

static bool is_surrogate(uint32_t code)
{
	return code >= 0xD800 && code <= 0xDFFF;
}

/*
 * Marks, embeddings, overrides and isolates of direction; line and paragraph separators; and what
 * is not seen: a space without width, operators and shapes, the byte order mark, tags.
 */
static bool disguises(uint32_t code)
{
	return code == 0x061C || code == 0x200B || code == 0x200E || code == 0x200F ||
	       (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
	       code == 0xFEFF || (code >= 0xE0000 && code <= 0xE007F);
}

static void check_code(uint32_t code, size_t size, bool kept)
{
	char text[5], result[8];
	static const char marks[] = "????";
	const char *expected = kept ? text : marks + sizeof(marks) - 1 - size;

	encode(code, size, text);
	text__clean(text, size, false, result, sizeof(result));
	tap_check(!strcmp(result, expected), __FILE__, __LINE__, "U+%04X in %zu bytes", code, size);
}

/* All that the lead bytes C0 to F7 can express: 0x20 pages of 2, 0x10 of 3, 8 of 4 bytes. */
static void all_of_utf8(void)
{
	for (uint32_t code = 0; code < 0x800; code++)
		if ((code < 0x80 || code > 0x9F) && !disguises(code))
			check_code(code, 2, code >= 0x80);
	for (uint32_t code = 0; code < 0x10000; code++)
		if (code < 0x800 || !disguises(code))
			check_code(code, 3, code >= 0x800 && !is_surrogate(code));
	for (uint32_t code = 0; code < 0x200000; code++)
		if (code < 0x10000 || !disguises(code))
			check_code(code, 4, code >= 0x10000 && code <= 0x10FFFF);
}

static void disguising_characters(void)
{
	for (uint32_t code = 0x80; code < 0x110000; code++) {
		char text[5];

		if (!disguises(code))
			continue;
		encode(code, code < 0x800 ? 2 : code < 0x10000 ? 3 : 4, text);
		check_replaced(text, "?");
	}
}

static void c1_controls(void)
{
	for (uint32_t code = 0x80; code <= 0x9F; code++) {
		char text[5];

		encode(code, 2, text);
		check_replaced(text, "?");
	}
	check_replaced("a\xC2\x9B"
		       "31m",
		       "a?31m");
	check_kept("\xC2\xA0");
	check_replaced("a\x9B"
		       "31m",
		       "a?31m");
}

static void broken_sequences(void)
{
	check_replaced("\x80", "?");
	check_replaced("\xBF", "?");
	check_replaced("\xC3", "?");
	check_replaced("\xE2\x82", "??");
	check_replaced("\xF0\x9F\x98", "???");
	check_replaced("\xC3(", "?(");
	check_replaced("\xE2\x82(", "?"
				    "?(");
	check_replaced("\xF0\x9F\x98(", "??"
					"?(");
	check_replaced("\xE2\xC3\xA9", "?\xC3\xA9");
	check_replaced("\xF8\x88\x80\x80\x80", "?????");
	check_replaced("\xFE\xFF", "??");
	check_replaced("\xC3\x1B[31m", "??[31m");
	CHECK_STR(clean("\xC3;", true), "?:");
}

/* The length ends the name, although the bytes behind it would complete a character. */
static void length_ends_the_name(void)
{
	static const char *const characters[] = {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};

	for (size_t i = 0; i < ARRAY_SIZE(characters); i++) {
		for (size_t length = 0; length < strlen(characters[i]); length++) {
			char *exact = malloc(length + 1), result[8];

			memcpy(exact + 1, characters[i], length);
			CHECK_INT(text__clean(exact + 1, length, false, result, 8), length);
			CHECK_INT(strspn(result, "?"), length);
			free(exact);
		}
	}
}

static void buffers_of_any_size(void)
{
	const char name[] = "a\xC3\xA9;\xE2\x82\xAC\x1B\xF0\x9F\x98\x80z";
	const char expected[] = "a\xC3\xA9:\xE2\x82\xAC?\xF0\x9F\x98\x80z";
	/* The length that fits into a buffer of size: whole characters only, and a NUL. */
	const size_t lengths[] = {0, 0, 1, 1, 3, 4, 4, 4, 7, 8, 8, 8, 8, 12, 13, 13};

	for (size_t size = 1; size < ARRAY_SIZE(lengths); size++) {
		char *exact = malloc(size);

		CHECK_INT(text__clean(name, strlen(name), true, exact, size), lengths[size]);
		CHECK_INT(strlen(exact), lengths[size]);
		CHECK(!memcmp(exact, expected, lengths[size]));
		free(exact);
	}
}

/* ---- text and folded lines ---- */

#define KERNEL(n) (0xffffffff81000000 + (n))

/* Answers for these frames, in the order of frame_names: the kernel's first. */
static struct frame_place places[] = {
	{KERNEL(0x10), 0, false, 0}, {KERNEL(0x20), 0, true, 0}, {KERNEL(0x30), 0, true, 0},
	{0x1000, 42, false, 0},	     {0x1000, 42, true, 0},	 {0x2000, 42, true, 0},
	{0x3000, 42, true, 0},	     {0x4000, 42, true, 0},	 {0x5000, 42, true, 0},
	{0x6000, 42, true, 0},	     {0x7000, 42, false, 0},	 {0x8000, 42, false, 0},
	{0x1000, 43, false, 0},
};
static const struct sym_inlined inlined[] = {
	{.name = "a;b", .source = {.file = "/src/a;b\x1b.h", .line = 3}},
	{.name = NULL, .source = {.line = 3}},
};
static struct sym_query queries[] = {
	{.address = KERNEL(0x10), .name = "vfs_read", .offset = 0x10},
	{.address = KERNEL(0x20), .name = "do_syscall", .offset = 0x2f, .module = "kmod"},
	{.address = KERNEL(0x30), .name = NULL},
	{.address = 0x1000, .name = "leaf", .offset = 0, .module = "cat"},
	{.address = 0x1000, .name = "leaf_called", .offset = 4, .module = "cat"},
	{.address = 0x2000, .name = "std::a;b\x1b[2J\n", .offset = 0x1234},
	{.address = 0x3000, .module = "libfoo.so", .module_offset = 0x12ab},
	{.address = 0x4000, .module = "a;b)\x1b[2J\n\xff", .module_offset = UINT64_MAX},
	{.address = 0x5000, .name = NULL},
	{.address = 0x6000,
	 .name = "outer",
	 .offset = 8,
	 .inlined = inlined,
	 .nr_inlined = ARRAY_SIZE(inlined),
	 .source = {.file = "outer.c", .line = 4294967295}},
	{.address = 0x7000, .name = "fake (inlined)", .source = {.file = "no line"}},
	{.address = 0x12, .in_file = true, .module = "libbar.so", .module_offset = 0x12},
	{.address = 0x1000, .name = "other"},
};
static const struct frame_names names = {
	.places = places, .queries = queries, .nr = ARRAY_SIZE(places)};

_Static_assert(ARRAY_SIZE(places) == ARRAY_SIZE(queries), "each frame has its answer");

static void print_process(FILE *out, const char *comm, const char *id)
{
	fprintf(out, "  - %s (%s)", comm, id);
}

static const struct stack_layout layout = {
	.frame_indent = "  ", .count_indent = "    ", .print_process = print_process};

#define FRAMES(...) FRAMES_IN(&arena, __VA_ARGS__)

static struct arena arena;
static const struct frames no_frames;

static struct counted_stack make_stack(const char *comm, const struct frames *kernel,
				       const struct frames *user)
{
	struct counted_stack stack = {.key.tgid = 42, .count = 7, .kernel = kernel, .user = user};

	memcpy(stack.key.comm, comm, strnlen(comm, COMM_LEN));
	return stack;
}

#define ANNOTATED 'a'
#define DELIMITED 'd'
#define FOLDED	  'f'
#define OFFSETS	  's'
#define SHARES	  'p'
#define VERBOSE	  'v'

/* The differences between the writers of applets; tests change and reset them. */
static const struct stack_layout *current_layout = &layout;
static bool comms = true, processes = true;

/* The text for these stacks with the options whose letters are given. */
static const char *print_stacks(struct counted_stack *stacks, size_t nr, const char *letters)
{
	static char result[8192];
	struct stack_counts counts = {.items = stacks, .nr = nr};
	const struct format *format = strchr(letters, FOLDED) ? &format_folded : &format_text;
	const struct shown_stacks shown = {
		.counts = &counts,
		.layout = current_layout,
		.names = &names,
		.unit = "samples",
		.shares = strchr(letters, SHARES),
		.comms = comms,
		.processes = processes,
		.delimited = strchr(letters, DELIMITED),
		.style.offsets = strchr(letters, OFFSETS),
		.style.verbose = strchr(letters, VERBOSE),
		.style.annotations = strchr(letters, ANNOTATED),
	};
	char *text = NULL;
	size_t size;
	FILE *out;

	out = open_memstream(&text, &size);
	format->write(out, &shown);
	CHECK_INT(output__flush(out), 0);
	fclose(out);
	snprintf(result, sizeof(result), "%s", text);
	free(text);
	return result;
}

static const char *print_stack(struct counted_stack stack, const char *letters)
{
	return print_stacks(&stack, 1, letters);
}

static struct counted_stack both_sides(void)
{
	return make_stack("cat", FRAMES(KERNEL(0x10), KERNEL(0x20)), FRAMES(0x1000, 0x2000));
}

static void text_output(void)
{
	CHECK_STR(print_stack(both_sides(), ""), "  vfs_read\n  do_syscall\n"
						 "  leaf\n  std::a;b?[2J?\n"
						 "  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(both_sides(), "d"), "  vfs_read\n  do_syscall\n    --\n"
						  "  leaf\n  std::a;b?[2J?\n"
						  "  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(both_sides(), "s"), "  vfs_read+0x10\n  do_syscall+0x2f\n"
						  "  leaf+0x0\n  std::a;b?[2J?+0x1234\n"
						  "  - cat (42)\n    7\n\n");
}

static void shares(void)
{
	struct counted_stack stacks[] = {make_stack("cat", &no_frames, FRAMES(0x1000)),
					 both_sides()};

	stacks[0].count = 1;
	CHECK_STR(print_stacks(stacks, 2, "p"), "  leaf\n"
						"  - cat (42)\n    1 (12.5%)\n\n"
						"  vfs_read\n  do_syscall\n"
						"  leaf\n  std::a;b?[2J?\n"
						"  - cat (42)\n    7 (87.5%)\n\n"
						"    total: 8 samples\n\n");
	CHECK_STR(print_stacks(stacks, 0, "p"), "    total: 0 samples\n\n");
	CHECK_STR(print_stacks(stacks, 0, ""), "");
}

/* Two places in functions without a name: only -v tells them apart. The sum decides the order. */
static void alike(void)
{
	struct counted_stack stacks[] = {
		make_stack("cat", &no_frames, FRAMES(0x1000, 0x3000)),
		make_stack("cat", &no_frames, FRAMES(0x1000)),
		make_stack("cat", &no_frames, FRAMES(0x1000, 0x5000)),
		make_stack("cat", &no_frames, FRAMES(0x1000)),
	};

	stacks[0].count = 5;
	stacks[1].count = 6;
	stacks[2].count = 7;
	stacks[3].count = 8;
	stacks[3].key.tgid = 43;
	CHECK_STR(print_stacks(stacks, 4, ""), "  leaf\n  - cat (42)\n    6\n\n"
					       "  other\n  - cat (43)\n    8\n\n"
					       "  leaf\n  [unknown]\n  - cat (42)\n    12\n\n");
	CHECK_STR(print_stacks(stacks, 3, "v"),
		  "  1000             leaf\n"
		  "  3000             [unknown] (libfoo.so+0x12ab)\n  - cat (42)\n    5\n\n"
		  "  1000             leaf\n  - cat (42)\n    6\n\n"
		  "  1000             leaf\n"
		  "  5000             [unknown]\n  - cat (42)\n    7\n\n");
	CHECK_STR(print_stacks(stacks, 4, "f"), "cat;leaf 6\ncat;other 8\ncat;[unknown];leaf 12\n");
	/* Equal ones stay in their order. */
	stacks[0].count = 1;
	stacks[2].count = 5;
	CHECK_STR(print_stacks(stacks, 3, "f"), "cat;[unknown];leaf 6\ncat;leaf 6\n");
}

static void folded_output(void)
{
	CHECK_STR(print_stack(both_sides(), "f"), "cat;std::a:b?[2J?;leaf;do_syscall;vfs_read 7\n");
	CHECK_STR(print_stack(both_sides(), "fd"),
		  "cat;std::a:b?[2J?;leaf;-;do_syscall;vfs_read 7\n");
	CHECK_STR(print_stack(both_sides(), "fds"),
		  "cat;std::a:b?[2J?+0x1234;leaf+0x0;-;do_syscall+0x2f;vfs_read+0x10 7\n");
}

static void inlined_calls(void)
{
	struct counted_stack stack = make_stack("cat", &no_frames, FRAMES(0x7000, 0x6000));

	CHECK_STR(print_stack(stack, "s"),
		  "  fake (inlined?+0x0\n"
		  "  a;b (inlined) at a;b?.h:3\n  [unknown] (inlined)\n"
		  "  outer+0x8 at outer.c:4294967295\n  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(stack, "v"),
		  "  7000             fake (inlined?\n"
		  "  6000             a;b (inlined) at /src/a;b?.h:3\n"
		  "  6000             [unknown] (inlined)\n"
		  "  6000             outer at outer.c:4294967295\n  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(stack, "f"), "cat;outer:outer.c:4294967295;[unknown];a:b:a:b?.h:3;"
					   "fake (inlined? 7\n");
	CHECK_STR(print_stack(stack, "fa"),
		  "cat;outer:outer.c:4294967295;[unknown]_[i];a:b_[i]:a:b?.h:3;"
		  "fake (inlined? 7\n");
}

/* So many are shown, then a mark if there are more, and the function. */
static void check_inlined(const struct sym_query *query, uint32_t nr)
{
	const struct frame_style style = {.folded = true};
	bool cut = nr < query->nr_inlined;
	char text[FRAME_TEXT_MAX], mark[64];

	CHECK_INT(frame_text__inlined(query), nr);
	CHECK_INT(frame_text__levels(0x6000, query), nr + cut + 1);
	if (cut) {
		snprintf(mark, sizeof(mark), "[cut at %" PRIu32 " inlined calls]", nr);
		frame_text__write(&style, 0x6000, query, nr, text);
		CHECK_STR(text, mark);
	}
	frame_text__write(&style, 0x6000, query, nr + cut, text);
	CHECK_STR(text, "outer:outer.c:4294967295");
}

/* Debug data can say that hundreds of calls were inlined at each address, with any names. */
static void endless_inlined_calls(void)
{
	static struct sym_inlined many[256];
	static char name[FRAME_NAME_MAX + 1];
	struct sym_query *query = &queries[9];
	const struct sym_query kept = *query;

	memset(name, 'x', FRAME_NAME_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i].name = i < 4 ? NULL : "f";
	many[0].name = name;
	many[1].source = (struct sym_source){.file = name, .line = 1};
	many[2].name = many[3].name = name;
	query->inlined = many;
	query->nr_inlined = 4;
	check_inlined(query, 4);
	query->nr_inlined = ARRAY_SIZE(many);
	check_inlined(query, 4);
	many[0].name = many[2].name = many[3].name = NULL;
	query->nr_inlined = FRAME_INLINED_MAX;
	check_inlined(query, FRAME_INLINED_MAX);
	query->nr_inlined = ARRAY_SIZE(many);
	check_inlined(query, FRAME_INLINED_MAX);
	*query = kept;
}

/* A reader would take them for lines of another kind, with a count for one. */
static void names_behind_blanks(void)
{
	static const struct {
		const char *name, *text;
	} cases[] = {
		{" 42", "?42"},
		{"  42", "? 42"},
		{"\xC2\xA0\xC2\xA0"
		 "42",
		 "??\xC2\xA0"
		 "42"},
		{"\xE2\x80\x83 42", "??? 42"},
		{"\xE3\x80\x80- cat (42)", "?\?\?- cat (42)"},
		{"\xE2\x80\x8D 42", "??? 42"},
		{"-\xC2\xA0 cat (42)", "?\xC2\xA0 cat (42)"},
		{"-[Class method]", "-[Class method]"},
		{"\xE2\xA0\x80[unknown]", "???[unknown]"},
		{"[unknown]", "?unknown]"},
		{"a\xC2\xA0"
		 "42",
		 "a\xC2\xA0"
		 "42"},
		{"\xC3\xA9t\xC3\xA9", "\xC3\xA9t\xC3\xA9"},
		{"", ""},
	};
	const struct frame_style style = {.folded = false};
	char text[FRAME_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct sym_query query = {.name = cases[i].name};

		CHECK_INT(frame_text__write(&style, 0x6000, &query, 0, text),
			  strlen(cases[i].text));
		CHECK_STR(text, cases[i].text);
	}
}

static void delimiter_needs_two_sides(void)
{
	struct counted_stack kernel = make_stack("cat", FRAMES(KERNEL(0x10)), &no_frames);
	struct counted_stack user = make_stack("cat", &no_frames, FRAMES(0x1000));

	CHECK_STR(print_stack(kernel, "d"), "  vfs_read\n  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(kernel, "df"), "cat;vfs_read 7\n");
	CHECK_STR(print_stack(user, "d"), "  leaf\n  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(user, "df"), "cat;leaf 7\n");
}

/* Where both kinds were asked for, as stackcount has it. */
static void delimiter_always(void)
{
	static const struct stack_layout always = {.frame_indent = "  ",
						   .count_indent = "    ",
						   .print_process = print_process,
						   .delimits_always = true};
	struct counted_stack kernel = make_stack("cat", FRAMES(KERNEL(0x10)), &no_frames);
	struct counted_stack user = make_stack("cat", &no_frames, FRAMES(0x1000));
	struct counted_stack none = make_stack("cat", &no_frames, &no_frames);

	current_layout = &always;
	CHECK_STR(print_stack(kernel, "d"), "  vfs_read\n    --\n  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(kernel, "df"), "cat;-;vfs_read 7\n");
	CHECK_STR(print_stack(user, "d"), "    --\n  leaf\n  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(user, "df"), "cat;leaf;- 7\n");
	CHECK_STR(print_stack(none, "d"), "    --\n  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(none, "df"), "cat;- 7\n");
	CHECK_STR(print_stack(both_sides(), "df"),
		  "cat;std::a:b?[2J?;leaf;-;do_syscall;vfs_read 7\n");
	CHECK_STR(print_stack(kernel, ""), "  vfs_read\n  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(kernel, "f"), "cat;vfs_read 7\n");
	comms = processes = false;
	CHECK_STR(print_stack(none, "df"), "- 7\n");
	CHECK_STR(print_stack(user, "df"), "leaf;- 7\n");
	comms = processes = true;
	current_layout = &layout;
}

/* Stacks of one process that was asked for: a folded line names it, text need not. */
static void without_process_lines(void)
{
	processes = false;
	CHECK_STR(print_stack(both_sides(), ""), "  vfs_read\n  do_syscall\n"
						 "  leaf\n  std::a;b?[2J?\n    7\n\n");
	CHECK_STR(print_stack(both_sides(), "f"), "cat;std::a:b?[2J?;leaf;do_syscall;vfs_read 7\n");
	processes = true;
}

/* Stacks of all processes together: no line begins with a separator, and none is empty. */
static void without_comms(void)
{
	struct counted_stack none = make_stack("", &no_frames, &no_frames);

	comms = processes = false;
	CHECK_STR(print_stack(both_sides(), "f"), "std::a:b?[2J?;leaf;do_syscall;vfs_read 7\n");
	CHECK_STR(print_stack(none, "f"), "[unknown] 7\n");
	CHECK_STR(print_stack(none, ""), "    7\n\n");
	comms = processes = true;
}

/* A probe has put frames on top of its own place. */
static void hidden_frames(void)
{
	struct counted_stack stack = both_sides();

	stack.hidden = 1;
	CHECK_STR(print_stack(stack, ""), "  do_syscall\n  leaf\n  std::a;b?[2J?\n"
					  "  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(stack, "fd"), "cat;std::a:b?[2J?;leaf;-;do_syscall 7\n");
	stack.hidden = 2;
	CHECK_STR(print_stack(stack, "f"), "cat;std::a:b?[2J?;leaf 7\n");
	CHECK_STR(print_stack(stack, "v"), "  1000             leaf\n"
					   "  2000             std::a;b?[2J?\n"
					   "  - cat (42)\n    7\n\n");
}

static bool thread_ids; /* for print_waits(): --threads */

static const char *print_waits(struct stack_counts *counts, const struct format *format,
			       bool counts_times)
{
	static const struct accounting accounting;
	static char result[8192];
	const struct shown_stacks shown = {
		.counts = counts,
		.layout = &layout,
		.names = &names,
		.comms = true,
		.processes = true,
		.threads = true,
		.thread_ids = thread_ids,
		.accounting = &accounting,
		.unit = "waits",
		.cost = "offcpu",
		.cost_unit = "nanoseconds",
		.counts_times = counts_times,
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK_INT(format->write(out, &shown), 0);
	fclose(out);
	snprintf(result, sizeof(result), "%s", text);
	free(text);
	return result;
}

static struct counted_stack make_wait(uint32_t tid, uint64_t nanoseconds, uint64_t nr,
				      const struct frames *user)
{
	struct counted_stack stack = make_stack("cat", &no_frames, user);

	stack.key.tid = tid;
	stack.weight = nanoseconds;
	stack.count = nr;
	return stack;
}

/* Microseconds, rounded once; a thread has a block of its own, and no line. */
static void waits_of_threads(void)
{
	struct counted_stack items[] = {
		make_wait(43, 499, 1, FRAMES(0x1000)),
		make_wait(44, 1500, 2, FRAMES(0x1000, 0x2000)),
		make_wait(45, 2499, 1, FRAMES(0x1000)),
	};
	struct stack_counts counts = {.items = items, .nr = ARRAY_SIZE(items)};

	CHECK_STR(print_waits(&counts, &format_text, false),
		  "  leaf\n  - cat (43)\n    0\n\n"
		  "  leaf\n  std::a;b?[2J?\n  - cat (44)\n    2\n\n"
		  "  leaf\n  - cat (45)\n    2\n\n");
	CHECK_STR(print_waits(&counts, &format_text, true),
		  "  leaf\n  - cat (43)\n    0 in 1 wait\n\n"
		  "  leaf\n  std::a;b?[2J?\n  - cat (44)\n    2 in 2 waits\n\n"
		  "  leaf\n  - cat (45)\n    2 in 1 wait\n\n");
	/* 499 + 2499 ns are 3 us, though 0 and 2 us are 2. The longest comes last. */
	CHECK_STR(print_waits(&counts, &format_folded, false),
		  "cat;std::a:b?[2J?;leaf 2\ncat;leaf 3\n");
	CHECK_STR(print_waits(&counts, &format_folded, true),
		  "cat;std::a:b?[2J?;leaf 2\ncat;leaf 2\n");
	counts.nr = 1;
	CHECK_STR(print_waits(&counts, &format_json, true),
		  "{\"count\":1,\"nanoseconds\":499,\"comm\":\"cat\",\"pid\":42,\"tid\":43,"
		  "\"kernel\":[],\"user\":[{\"addr\":\"1000\",\"name\":\"leaf\",\"offset\":0,"
		  "\"module\":\"cat\",\"module_offset\":0,\"kind\":\"user\"}]}\n");
	counts.nr = 0;
	CHECK_STR(print_waits(&counts, &format_folded, false), "");
}

/* With --threads all formats tell which thread it was; two never share a line or a profile. */
static void ids_of_threads(void)
{
	struct counted_stack items[] = {
		make_wait(43, 1000, 1, FRAMES(0x1000)),
		make_wait(UINT32_MAX, 2000, 2, FRAMES(0x1000)),
	};
	struct stack_counts counts = {.items = items, .nr = ARRAY_SIZE(items)};
	const char *profiles;

	thread_ids = true;
	CHECK_STR(print_waits(&counts, &format_text, false),
		  "  leaf\n  - cat (42/43)\n    1\n\n"
		  "  leaf\n  - cat (42/4294967295)\n    2\n\n");
	CHECK_STR(print_waits(&counts, &format_folded, false),
		  "cat-42/43;leaf 1\ncat-42/4294967295;leaf 2\n");
	profiles = print_waits(&counts, &format_speedscope, false);
	CHECK(strstr(profiles, "\"name\":\"cat (42/4294967295)\",\"unit\":\"nanoseconds\","
			       "\"startValue\":0,\"endValue\":2000,"));
	CHECK(strstr(profiles, "\"name\":\"cat (42/43)\",\"unit\":\"nanoseconds\","
			       "\"startValue\":0,\"endValue\":1000,"));
	thread_ids = false;
	profiles = print_waits(&counts, &format_speedscope, false);
	CHECK(strstr(profiles, "\"name\":\"cat (42)\",\"unit\":\"nanoseconds\","
			       "\"startValue\":0,\"endValue\":3000,"));
}

static void no_frames_at_all(void)
{
	struct counted_stack stack = make_stack("cat", &no_frames, &no_frames);

	CHECK_STR(print_stack(stack, "ds"), "  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(stack, "dsf"), "cat 7\n");
	CHECK_STR(print_stacks(NULL, 0, ""), "");
	CHECK_STR(print_stacks(NULL, 0, "f"), "");
}

static void unknown_frames(void)
{
	struct counted_stack stack = make_stack("cat", &no_frames, FRAMES(0x1000, 0x3000));

	CHECK_STR(print_stack(stack, "s"), "  leaf+0x0\n  [unknown]\n  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(stack, "fs"), "cat;[unknown];leaf+0x0 7\n");
}

/*
 * Kernel frames: plain, of a module, unknown; user frames: plain, without a name, without a file.
 */
static struct counted_stack all_kinds(void)
{
	return make_stack("cat",
			  FRAMES(KERNEL(0x10), KERNEL(0x20), KERNEL(0x30), frame_mark(MARK_CUT, 3)),
			  FRAMES(0x1000, 0x3000, 0x5000, frame_mark(MARK_CUT, 4)));
}

static void verbose_text(void)
{
	CHECK_STR(print_stack(all_kinds(), "v"), "  ffffffff81000010 vfs_read\n"
						 "  ffffffff81000020 do_syscall [kmod]\n"
						 "  ffffffff81000030 [unknown]\n"
						 "  -                [cut at 3 frames]\n"
						 "  1000             leaf\n"
						 "  3000             [unknown] (libfoo.so+0x12ab)\n"
						 "  5000             [unknown]\n"
						 "  -                [cut at 4 frames]\n"
						 "  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(all_kinds(), "vsd"),
		  "  ffffffff81000010 vfs_read+0x10\n"
		  "  ffffffff81000020 do_syscall+0x2f [kmod]\n"
		  "  ffffffff81000030 [unknown]\n"
		  "  -                [cut at 3 frames]\n"
		  "    --\n"
		  "  1000             leaf+0x0\n"
		  "  3000             [unknown] (libfoo.so+0x12ab)\n"
		  "  5000             [unknown]\n"
		  "  -                [cut at 4 frames]\n"
		  "  - cat (42)\n    7\n\n");
}

/* There is no place for addresses in a folded line. */
static void verbose_folded(void)
{
	CHECK_STR(print_stack(all_kinds(), "vf"),
		  "cat;[cut at 4 frames];[unknown];[unknown] (libfoo.so+0x12ab);leaf;"
		  "[cut at 3 frames];[unknown];do_syscall [kmod];vfs_read 7\n");
	CHECK_STR(print_stack(all_kinds(), "vfs"),
		  "cat;[cut at 4 frames];[unknown];[unknown] (libfoo.so+0x12ab);leaf+0x0;"
		  "[cut at 3 frames];[unknown];do_syscall+0x2f [kmod];vfs_read+0x10 7\n");
}

/* Without -v, files and modules are not named. */
static void terse_output(void)
{
	CHECK_STR(print_stack(all_kinds(), ""), "  vfs_read\n  do_syscall\n  [unknown]\n"
						"  [cut at 3 frames]\n"
						"  leaf\n  [unknown]\n  [unknown]\n"
						"  [cut at 4 frames]\n"
						"  - cat (42)\n    7\n\n");
}

/* A place in a file has no address if no process is known to have had it mapped. */
static void places_in_files(void)
{
	struct counted_stack stack = make_stack("cat", &no_frames, FRAMES(0x8000, 0x5000));

	CHECK_STR(print_stack(stack, "v"), "  -                [unknown] (libbar.so+0x12)\n"
					   "  5000             [unknown]\n"
					   "  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(stack, "vf"), "cat;[unknown];[unknown] (libbar.so+0x12) 7\n");
}

static void hostile_modules(void)
{
	struct counted_stack stack = make_stack("cat", &no_frames, FRAMES(0x1000, 0x4000));

	CHECK_STR(print_stack(stack, "v"),
		  "  1000             leaf\n"
		  "  4000             [unknown] (a;b)?[2J??+0xffffffffffffffff)\n"
		  "  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(stack, "vf"),
		  "cat;[unknown] (a:b)?[2J??+0xffffffffffffffff);leaf 7\n");
}

static void very_long_modules(void)
{
	const size_t length = 10000;
	CLEANUP_FREE char *module = malloc(length + 1);
	const char *kept = queries[6].module;
	struct counted_stack stack = make_stack("cat", &no_frames, FRAMES(0x1000, 0x3000));
	const char *printed;

	memset(module, 'm', length);
	module[length] = '\0';
	queries[6].module = module;
	printed = print_stack(stack, "vf");
	CHECK_INT(strspn(printed + strlen("cat;[unknown] ("), "m"), 4095);
	CHECK_STR(printed + strlen("cat;[unknown] (") + 4095, "+0x12ab);leaf 7\n");
	queries[6].module = kept;
}

/* The very last of a frame, for flame graphs; marks and user frames have none. */
static void annotated_output(void)
{
	CHECK_STR(print_stack(all_kinds(), "a"), "  vfs_read_[k]\n  do_syscall_[k]\n"
						 "  [unknown]_[k]\n  [cut at 3 frames]\n"
						 "  leaf\n  [unknown]\n  [unknown]\n"
						 "  [cut at 4 frames]\n"
						 "  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(all_kinds(), "af"),
		  "cat;[cut at 4 frames];[unknown];[unknown];leaf;"
		  "[cut at 3 frames];[unknown]_[k];do_syscall_[k];vfs_read_[k] 7\n");
	CHECK_STR(print_stack(all_kinds(), "afsvd"),
		  "cat;[cut at 4 frames];[unknown];[unknown] (libfoo.so+0x12ab);leaf+0x0;-;"
		  "[cut at 3 frames];[unknown]_[k];do_syscall+0x2f [kmod]_[k];"
		  "vfs_read+0x10_[k] 7\n");
	CHECK_STR(print_stack(both_sides(), "asv"),
		  "  ffffffff81000010 vfs_read+0x10_[k]\n"
		  "  ffffffff81000020 do_syscall+0x2f [kmod]_[k]\n"
		  "  1000             leaf+0x0\n"
		  "  2000             std::a;b?[2J?+0x1234\n"
		  "  - cat (42)\n    7\n\n");
}

/* Names that look like our own marks, and a program's function that looks annotated. */
static void names_like_our_own(void)
{
	const char *kept = queries[3].name;
	struct counted_stack stack = make_stack("cat", &no_frames, FRAMES(0x1000));

	queries[3].name = "[cut at 127 frames]";
	CHECK_STR(print_stack(stack, "f"), "cat;?cut at 127 frames] 7\n");
	queries[3].name = " indented";
	CHECK_STR(print_stack(stack, "f"), "cat;?indented 7\n");
	queries[3].name = kept;
}

static void names_with_source_lines(void)
{
	static const struct {
		const char *name, *text, *folded, *generated; /* generated: folded */
	} cases[] = {
		{"f at a.c:10", "f at a.c:1?", "f at a.c:10", "f at a.c:10"},
		{"f (inlined) at a.c:1", "f (inlined) at a.c:?", "f (inlined) at a.c:1",
		 "f (inlined) at a.c:1"},
		{"f:a.c:10", "f:a.c:10", "f:a.c:1?", "f:a.c:10"},
		{"f_[i]:a.c:10", "f_[i]:a.c:10", "f_[i]:a.c:1?", "f_[i]:a.c:10"},
		{"f;a.c:10", "f;a.c:10", "f:a.c:1?", "f:a.c:10"},
		{"JS:*leaf file.js:1:14", "JS:*leaf file.js:1:14", "JS:*leaf file.js:1:1?",
		 "JS:*leaf file.js:1:14"},
		{"py::f:/x.py", "py::f:/x.py", "py::f:/x.py", "py::f:/x.py"},
		{"A::operator:", "A::operator:", "A::operator:", "A::operator:"},
		{"f at :1", "f at :1", "f at :1", "f at :1"},
		{"at a:1 at", "at a:1 at", "at a:1 at", "at a:1 at"},
		{"look at b::c2", "look at b::c2", "look at b::c2", "look at b::c2"},
		{"a:1", "a:1", "a:1", "a:1"},
	};
	const struct sym_query kept = queries[3];
	struct counted_stack stack = make_stack("cat", &no_frames, FRAMES(0x1000));
	char expected[128];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		queries[3] = (struct sym_query){.name = cases[i].name};
		snprintf(expected, sizeof(expected), "  %s\n  - cat (42)\n    7\n\n",
			 cases[i].text);
		CHECK_STR(print_stack(stack, ""), expected);
		snprintf(expected, sizeof(expected), "cat;%s 7\n", cases[i].folded);
		CHECK_STR(print_stack(stack, "f"), expected);
		queries[3].generated = true;
		snprintf(expected, sizeof(expected), "cat;%s 7\n", cases[i].generated);
		CHECK_STR(print_stack(stack, "f"), expected);
	}
	queries[3] = kept;
}

static void cut_stacks(void)
{
	struct counted_stack stack =
		make_stack("cat", FRAMES(KERNEL(0x10), frame_mark(MARK_CUT, 127)),
			   FRAMES(0x1000, frame_mark(MARK_CUT, 4294967295)));

	CHECK_STR(print_stack(stack, "ds"), "  vfs_read+0x10\n  [cut at 127 frames]\n    --\n"
					    "  leaf+0x0\n  [cut at 4294967295 frames]\n"
					    "  - cat (42)\n    7\n\n");
	CHECK_STR(print_stack(stack, "df"),
		  "cat;[cut at 4294967295 frames];leaf;-;[cut at 127 frames];vfs_read 7\n");
}

static void leaf_and_return_address_differ(void)
{
	struct counted_stack stack = make_stack("cat", &no_frames, FRAMES(0x1000, 0x1000));

	CHECK_STR(print_stack(stack, "fs"), "cat;leaf_called+0x4;leaf+0x0 7\n");
}

static void processes_have_their_own_names(void)
{
	struct counted_stack stacks[] = {
		make_stack("one", &no_frames, FRAMES(0x1000)),
		make_stack("two", &no_frames, FRAMES(0x1000)),
	};

	stacks[1].key.tgid = 43;
	stacks[1].count = UINT64_MAX;
	CHECK_STR(print_stacks(stacks, 2, "f"), "one;leaf 7\ntwo;other 18446744073709551615\n");
	CHECK_STR(print_stacks(stacks, 2, ""), "  leaf\n  - one (42)\n    7\n\n"
					       "  other\n  - two (43)\n    "
					       "18446744073709551615\n\n");
}

static void hostile_comm(void)
{
	struct counted_stack stack =
		make_stack("a;b c\n\x1b]0;\xC2\x9B\xff", &no_frames, &no_frames);
	struct counted_stack full = make_stack("0123456789abcdef", &no_frames, &no_frames);
	struct counted_stack cut = make_stack("0123456789abcd\xE2\x82", &no_frames, &no_frames);

	CHECK_STR(print_stack(stack, ""), "  - a;b c??]0;?? (42)\n    7\n\n");
	CHECK_STR(print_stack(stack, "f"), "a:b c??]0:?? 7\n");
	CHECK_STR(print_stack(full, "f"), "0123456789abcdef 7\n");
	CHECK_STR(print_stack(cut, "f"), "0123456789abcd?? 7\n");
}

static void very_long_names(void)
{
	const size_t length = 10000;
	CLEANUP_FREE char *name = malloc(length + 1);
	const char *kept = queries[3].name;
	struct counted_stack stack = make_stack("cat", &no_frames, FRAMES(0x1000));
	const char *printed;

	memset(name, 'n', length);
	name[length] = '\0';
	queries[3].name = name;
	printed = print_stack(stack, "f");
	CHECK_INT(strspn(printed + strlen("cat;"), "n"), 4095);
	CHECK_STR(printed + strlen(printed) - 3, " 7\n");
	queries[3].name = kept;
}

/* ---- errors ---- */

static void full_disk(void)
{
	CLEANUP_FCLOSE FILE *full = fopen("/dev/full", "we");
	struct error error = {.text = "old"};

	if (!full) {
		tap_skip("no /dev/full");
		return;
	}
	fputs("text", full);
	CHECK_INT(output__flush(full), -ENOSPC);
	CHECK_INT(output__failed(-ENOSPC, &error), -ENOSPC);
	CHECK_STR(error.text, "cannot write the output: No space left on device");
	/* An error of an earlier write is not forgotten. */
	CHECK(output__flush(full) < 0);
}

static void reader_that_has_gone(void)
{
	struct error error = {.text = "old"};

	CHECK_INT(output__failed(-EPIPE, &error), -EPIPE);
	CHECK_STR(error.text, "");
	CHECK_INT(output__failed(-EBADF, &error), -EBADF);
	CHECK_STR(error.text, "");
}

static const struct tap_test tests[] = {
	{"ASCII: control characters become ?, and ; becomes : where folded", ascii},
	{"a NUL within the length becomes ?", nul_inside},
	{"every UTF-8 form of every number: overlong ones, surrogates, and what is too high become ?",
	 all_of_utf8},
	{"characters that turn the direction of text, or break its lines, become ?",
	 disguising_characters},
	{"C1 control characters become ?", c1_controls},
	{"each byte of a broken sequence becomes ?, what follows stays", broken_sequences},
	{"nothing behind the length is looked at", length_ends_the_name},
	{"no buffer is overrun, no character cut in two", buffers_of_any_size},
	{"stacks in lines, with -d and -s", text_output},
	{"text with shares", shares},
	{"stacks that look alike are one, with their sum", alike},
	{"folded stacks, with -d and -s", folded_output},
	{"inlined calls and source lines", inlined_calls},
	{"inlined calls without end", endless_inlined_calls},
	{"names behind blanks of any kind", names_behind_blanks},
	{"a delimiter stands only between two stacks", delimiter_needs_two_sides},
	{"a delimiter always, where an applet has it so", delimiter_always},
	{"no line for a process that is known", without_process_lines},
	{"counts of all processes together have no comm", without_comms},
	{"frames of the probe itself are hidden", hidden_frames},
	{"waits of threads: times, and folded lines of all threads", waits_of_threads},
	{"--threads: each thread by itself in each format", ids_of_threads},
	{"stacks without frames", no_frames_at_all},
	{"frames without a name are [unknown], without an offset", unknown_frames},
	{"-v: addresses, modules of the kernel, and where in its file an unknown frame lies",
	 verbose_text},
	{"-v, folded: the same but for addresses", verbose_folded},
	{"without -v there is none of these", terse_output},
	{"hostile names of files are made harmless", hostile_modules},
	{"a place in a file has no address where nobody knows it", places_in_files},
	{"a very long name of a file is cut", very_long_modules},
	{"-a: kernel frames end in _[k], known or not", annotated_output},
	{"no name passes for a mark", names_like_our_own},
	{"names that end like source lines", names_with_source_lines},
	{"stacks that were cut say so at their root", cut_stacks},
	{"an address is named as a leaf or as a return address", leaf_and_return_address_differ},
	{"the same address in two processes has two names", processes_have_their_own_names},
	{"a hostile comm is made harmless", hostile_comm},
	{"a very long name is cut", very_long_names},
	{"a full disk is an error, and stays one", full_disk},
	{"a reader that has gone is an error without words", reader_that_has_gone},
};

int main(void)
{
	int status = TAP_RUN(tests);

	arena__release(&arena);
	return status;
}
