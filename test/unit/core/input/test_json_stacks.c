// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/json_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/read_stacks.h"
#include "test/unit/tap.h"

static void stacks(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	const struct reading reading = read_text(
		&tree,
		"{\"count\":3,\"comm\":\"a b\",\"pid\":12,\"kernel\":["
		"{\"addr\":\"ff1\",\"name\":\"vfs_read\",\"offset\":1,\"kind\":\"kernel\"},"
		"{\"addr\":\"ff2\",\"name\":null,\"module\":\"ext4\",\"kind\":\"kernel\"}],\"user\":["
		"{\"addr\":\"1\",\"name\":\"min\",\"inlined\":true,\"file\":\"/a\",\"line\":3,"
		"\"kind\":\"inlined\"},"
		"{\"addr\":\"2\",\"name\":\"[l.so+0x12]\",\"unnamed\":true,\"kind\":\"user\"},"
		"{\"addr\":\"3\",\"name\":\"LJit\",\"kind\":\"generated\"},"
		"{\"addr\":null,\"name\":\"[cut at 3 frames]\",\"kind\":\"mark\"}]}\n");

	CHECK_STR(in_order(&tree),
		  "1 a b p 0, 2 [cut at 3 frames] m 0, 3 LJit g 0, 4 [l.so+0x12] x 0, 5 min i 0, "
		  "6 [unknown] (ext4) x 0, 7 vfs_read k 3");
	CHECK_INT(reading.stacks, 1);
	CHECK_STR(reading.unit, "");
}

/* In any order, over lines, without what is not needed, and with what is not known. */
static void members(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	const struct reading reading = read_text(
		&tree, " {\n \"user\" : [ { \"name\" : \"main\" } ] , \"new\":{\"a\":[1,-2.5e3,{}],"
		       "\"b\":[[],\"]}\\\"\",true,false,null]},\n\"nanoseconds\":7,\"count\":2,"
		       "\"kernel\":[]}{\"user\":[],\"count\":4} \n{\"count\":1,\"kernel\":[]}");

	CHECK_INT(reading.bad, 0);
	CHECK_INT(reading.stacks, 3);
	CHECK_STR(reading.unit, "nanoseconds");
	CHECK_STR(in_order(&tree), "1 main u 7");
	CHECK_INT(tree.nodes[0].total, 12);
}

static void events(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	const struct reading reading = read_text(
		&tree, "{\"time\":\"1.2\",\"comm\":\"x\",\"pid\":1,\"tid\":1,\"cpu\":0,\"kernel\":["
		       "{\"addr\":\"ff\",\"name\":\"k\"}],\"user\":[{\"addr\":\"1\",\"name\":\"i\","
		       "\"inlined\":true},{\"addr\":\"2\",\"name\":\"m\",\"module\":\"l.so\"},"
		       "{\"addr\":null,\"name\":\"[unwind stopped: no rule]\"}]}\n"
		       "{\"lost\":12,\"time\":\"1.3\"}\n{\"lost\":3,\"time\":\"1.3\"}\n");

	CHECK_STR(in_order(&tree), "1 x p 0, 2 [unwind stopped: no rule] m 0, 3 m u 0, 4 i i 0, "
				   "5 k k 1");
	CHECK_INT(reading.bad, 0);
	CHECK_INT(reading.nr_notes, 1);
	CHECK_STR(reading.notes[0], "15 events had been lost when it was written");
}

static void texts(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	const struct reading reading =
		read_text(&tree, "{\"user\":[{\"name\":\"\\u00e9\\ud83d\\udd25\\u001b\\\"\\\\\\/\\n"
				 "\\ud83d\\ud83d\\udd25\\ud83d\\t\\u0000;\xff\"}]}\n");

	CHECK_INT(reading.bad, 0);
	CHECK_STR(in_order(&tree), "1 \xc3\xa9\xf0\x9f\x94\xa5?\"\\/?\xef\xbf\xbd\xf0\x9f\x94\xa5"
				   "\xef\xbf\xbd??;? u 1");
}

/* What is wrong with a line does not touch the next one. */
static void bad_lines(void)
{
	static const struct {
		const char *line, *reason;
	} cases[] = {
		{"{\"count\":1.5,\"user\":[]}", "its count is no whole number"},
		{"{\"count\":-1,\"user\":[]}", "its count is no whole number"},
		{"{\"count\":18446744073709551616,\"user\":[]}", "its count is no whole number"},
		{"{\"count\":\"1\",\"user\":[]}", "its count is no whole number"},
		{"{\"count\":9223372036854775807,\"user\":[]}",
		 "its count makes the sum too large"},
		{"{\"count\":1}", "it has no frames"},
		{"{\"user\":[}", "it is no JSON"},
		{"{\"user\":[1]}", "it is no JSON"},
		{"{\"user\":[{\"name\":\"\\x\"}]}", "it is no JSON"},
		{"{\"user\":[{\"name\":\"\\u00g0\"}]}", "it is no JSON"},
		{"{\"user\":[{\"name\":\"a", "it is no JSON"},
		{"{\"user\":[{\"x\":nul}]}", "it is no JSON"},
		{"{\"user\" []}", "it is no JSON"},
		{"{\"user\":[],,}", "it is no JSON"},
		{"no", "it is no JSON"},
		{"]", "it is no JSON"},
		{"{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
		 "its values are nested too deep"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(flame_tree__release) struct flame_tree tree = {0};
		struct reading reading;
		char text[512];

		snprintf(text, sizeof(text),
			 "{\"user\":[{\"name\":\"b\"}]}\n\n%s\n{\"user\":[{\"name\":\"b\"}]}\n",
			 cases[i].line);
		reading = read_text(&tree, text);
		CHECK_INT(reading.bad, 1);
		CHECK_INT(reading.first_bad[0].number, 3);
		CHECK_STR(reading.first_bad[0].reason, cases[i].reason);
		CHECK_STR(in_order(&tree), "1 b u 2");
	}
}

static void cut_off(void)
{
	static const char whole[] = "{\"count\":1,\"user\":[{\"name\":\"b\",\"x\":null}]}";

	for (size_t length = 2; length < sizeof(whole) - 1; length++) {
		CLEANUP(flame_tree__release) struct flame_tree tree = {0};
		struct reading reading = {.tree = &tree};

		read_bytes(&reading, whole, length);
		CHECK_INT(reading.bad, 1);
		CHECK_STR(reading.first_bad[0].reason, "it ends too early");
		CHECK_INT(reading.stacks, 0);
	}
}

static void other_kinds(void)
{
	static const char *const texts[] = {
		"{\"$schema\":\"https://www.speedscope.app/\",\"shared\":{\"frames\":[]}}",
		"{\"traceEvents\":[]}",
		"[{\"count\":1,\"user\":[]}]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		CLEANUP(flame_tree__release) struct flame_tree tree = {0};

		CHECK_STR(read_text(&tree, texts[i]).refused,
			  "is JSON of another kind than -o FILE.json and stacksnoop --json write");
	}
}

/* "{"user":[{"name":"fff..."},...]}", of so many frames with names of so many bytes. */
static struct reading read_large(struct flame_tree *tree, size_t nr, size_t length)
{
	struct reading reading = {.tree = tree};
	CLEANUP_FREE char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fputs("{\"user\":[", out);
	for (size_t i = 0; i < nr; i++) {
		fputs(i ? ",{\"name\":\"" : "{\"name\":\"", out);
		for (size_t j = 0; j < length; j++)
			fputc('f', out);
		fputs("\"}", out);
	}
	fputs("]}\n", out);
	fclose(out);
	read_bytes(&reading, text, size);
	return reading;
}

static void bounds(void)
{
	static const struct {
		size_t nr, length;
		const char *reason;
	} cases[] = {
		{100 * 1000, 8, NULL},
		{2, 600 * 1000, "longer than 1 MB"},
		{600 * 1000, 1, "longer than 1 MB"},
		{1, 1024 * 1024, NULL},
		{1, 1024 * 1024 + 1, "a string is longer than 1 MB"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(flame_tree__release) struct flame_tree tree = {0};
		struct reading reading = read_large(&tree, cases[i].nr, cases[i].length);

		CHECK_INT(reading.stacks, !cases[i].reason);
		CHECK_STR(reading.first_bad[0].reason, cases[i].reason);
	}
}

static const struct tap_test tests[] = {
	{"stacks, with all kinds of frames", stacks},
	{"members in any order, and such that are not known", members},
	{"events of stacksnoop, and lost ones", events},
	{"texts with escapes", texts},
	{"lines that are no stacks are left out, and told", bad_lines},
	{"a file that ends too early", cut_off},
	{"JSON of other kinds", other_kinds},
	{"stacks and names of a megabyte", bounds},
};

int main(void)
{
	return TAP_RUN(tests);
}
