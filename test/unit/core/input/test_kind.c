// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/kind.h"

#include <string.h>

#include "sym/util/array.h"
#include "test/unit/tap.h"

/* Bytes with zeros among them. */
#define BYTES(text) text, sizeof(text) - 1

static const struct {
	const char *bytes;
	size_t size;
	enum input_kind kind;
} files[] = {
	{BYTES(""), INPUT_FOLDED},
	{BYTES("main;work 3\n"), INPUT_FOLDED},
	{BYTES("no stack\n"), INPUT_FOLDED},
	/* Frames that begin as JSON does. */
	{BYTES("{main};work 3\n"), INPUT_FOLDED},
	{BYTES("[unknown];work 3\n"), INPUT_FOLDED},
	{BYTES("{"), INPUT_FOLDED},
	/* Numbers and blanks as perf has them. */
	{BYTES("main;thread 12 [0x1] 5\n"), INPUT_FOLDED},
	{BYTES("worker 12 [001];main 5\n"), INPUT_FOLDED},
	{BYTES("  ab 7\n"), INPUT_FOLDED},
	/* Fields of a profile, but no zero, nor any other small number. */
	{BYTES("p 8\n"), INPUT_FOLDED},
	{BYTES("2 ha 1\n"), INPUT_FOLDED},
	/* Small numbers, but no fields. */
	{BYTES("a 5\0junk\na 6\0\nb 1\n"), INPUT_FOLDED},
	{BYTES("\x1\x2\x3"), INPUT_FOLDED},
	{BYTES("{\"count\":1}\n"), INPUT_JSON},
	{BYTES("\n {\n \"count\":1}\n"), INPUT_JSON},
	{BYTES("[ {\"a\":1}]"), INPUT_JSON},
	/* sample_type { type: 1 unit: 2 } and what is not complete; packed comments; a string. */
	{BYTES("\n\x4\x8\x1\x10\x2"), INPUT_PPROF},
	{BYTES("2\0j\2\5\6"), INPUT_PPROF},
	{BYTES("\n\x4\x8\x1\x10"), INPUT_FOLDED},
	/* Numbers where messages are; fields of other numbers and forms. */
	{BYTES("\x8\1"), INPUT_FOLDED},
	{BYTES("2\0\x82\1\1"), INPUT_FOLDED},
	{BYTES("2\0K\1"), INPUT_FOLDED},
	{BYTES("perf  12 [000]  1.5:  101 cycles:u: \n\t  7f0 f (x)\n\n"), INPUT_PERF_SCRIPT},
	{BYTES("# hostname : here\n#\n\nperf 12/13 1.5: cycles: \n"), INPUT_PERF_SCRIPT},
	{BYTES("swapper \n\tffffffff82203249 f\n"), INPUT_PERF_SCRIPT},
	{BYTES("\n\t           3024d f\n"), INPUT_PERF_SCRIPT},
	{BYTES("a\nb\n\tffffffff82203249 f\n"), INPUT_FOLDED},
	{BYTES("\x1f\x8b"), INPUT_FOREIGN},
	{BYTES("\x7f"
	       "ELF\2\1\1\0"),
	 INPUT_FOREIGN},
	{BYTES("PERFILE2\0\0"), INPUT_FOREIGN},
	{BYTES("\n<svg>"), INPUT_FOREIGN},
	{BYTES("Sampling at 49 Hertz of all threads"), INPUT_FOREIGN},
	{BYTES("TIME(s)            COMM         PID    CPU STACK\n"), INPUT_FOREIGN},
	{BYTES("  malloc\n  main\n    8\n\n"), INPUT_FOREIGN},
	{BYTES("\n    f\n    -                spin (7)\n        12 (40.0%)\n\n"), INPUT_FOREIGN},
	{BYTES("      3 main;work\n      4 main\n"), INPUT_FOLDED},
	{BYTES("  main;work 3\n  main 4\n"), INPUT_FOLDED},
	{BYTES("Attaching 1 probe...\n\n@[\n    vfs_read+1\n]: 4\n"), INPUT_FOREIGN},
	{BYTES("@stacks[\n    vfs_read+1\n]: 4\n"), INPUT_FOREIGN},
	{BYTES("@[sshd, 12]: 4\n"), INPUT_FOREIGN},
	{BYTES("@work;f[1] 4\n"), INPUT_FOLDED},
	{BYTES("Attaching\n"), INPUT_FOLDED},
	{BYTES("heap profile: 1: 2 [3: 4] @ heap/1048576\n"), INPUT_FOREIGN},
	{BYTES("BZh91AY&SY"), INPUT_FOREIGN},
	{BYTES("PK\3\4\24\0"), INPUT_FOREIGN},
	{BYTES("PK;a 1\n"), INPUT_FOLDED},
	{BYTES("FLR\0\0\2\0\1"), INPUT_FOREIGN},
	{BYTES("FLR;a 1\n"), INPUT_FOLDED},
	{BYTES("\xff\xfe"
	       "m\0a\0i\0n\0"),
	 INPUT_FOREIGN},
	{BYTES("\xfe\xff\0m\0a"), INPUT_FOREIGN},
	{BYTES("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"),
	 INPUT_FOREIGN},
};

static void contents(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const char *foreign;
		enum input_kind kind = input_kind__recognise((const unsigned char *)files[i].bytes,
							     files[i].size, true, &foreign);

		tap_check(kind == files[i].kind, __FILE__, __LINE__, "file %zu: kind %d, not %d", i,
			  kind, files[i].kind);
		CHECK_INT(foreign != NULL, files[i].kind == INPUT_FOREIGN);
	}
}

/* The beginning of a profile can end anywhere in a field, but for the tag. */
static void beginnings(void)
{
	static const unsigned char bytes[] = "\n\x4\x8\x1\x10\x2\x12\xff\xff\3abc";
	const char *foreign;

	for (size_t size = 3; size < sizeof(bytes); size++)
		CHECK_INT(input_kind__recognise(bytes, size, false, &foreign), INPUT_PPROF);
	CHECK_INT(input_kind__recognise((const unsigned char *)"2\0s", 3, false, &foreign),
		  INPUT_FOLDED);
}

static const struct tap_test tests[] = {
	{"files by their content", contents},
	{"the beginning of a profile", beginnings},
};

int main(void)
{
	return TAP_RUN(tests);
}
