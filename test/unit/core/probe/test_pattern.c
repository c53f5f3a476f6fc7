// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/options/glob.h"
#include "core/probe/pattern.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "test/unit/tap.h"

struct match_case {
	const char *pattern, *name;
	bool matches;
};

static void check_matches(const struct match_case *cases, size_t nr, bool regex)
{
	for (size_t i = 0; i < nr; i++) {
		CLEANUP(pattern__freep) struct pattern *pattern = NULL;
		struct error error = {.text = ""};

		if (pattern__new(&pattern, cases[i].pattern, regex, &error)) {
			tap_check(false, __FILE__, __LINE__, "'%s' was refused: %s",
				  cases[i].pattern, error.text);
			continue;
		}
		/* Twice: what libc remembers of the first time must not matter. */
		for (int round = 0; round < 2; round++)
			tap_check(pattern__matches(pattern, cases[i].name) == cases[i].matches,
				  __FILE__, __LINE__, "'%s' and '%s': expected %s",
				  cases[i].pattern, cases[i].name,
				  cases[i].matches ? "a match" : "none");
		CHECK_STR(pattern__text(pattern), cases[i].pattern);
	}
}

static void globs(void)
{
	static const struct match_case cases[] = {
		{"", "", true},
		{"", "a", false},
		{"vfs_read", "vfs_read", true},
		{"vfs_read", "vfs_readv", false},
		{"vfs_read", "xvfs_read", false},
		{"vfs_read", "VFS_READ", false},
		{"*", "", true},
		{"*", "anything", true},
		{"**", "", true},
		{"?", "", false},
		{"?", "a", true},
		{"?", "ab", false},
		{"?*", "", false},
		{"tcp_*", "tcp_", true},
		{"tcp_*", "tcp_send", true},
		{"tcp_*", "xtcp_send", false},
		{"*_read", "vfs_read", true},
		{"*_read", "vfs_read_read", true},
		{"*_read", "vfs_reads", false},
		{"*a*b*c", "xaxbxcxc", true},
		{"*a*b*c", "xaxcxb", false},
		{"a*b*c*d", "abcbcbd", true},
		{"*aab", "aaab", true},
		{"v?s_*d", "vfs_read", true},
		{"a*?", "a", false},
		{"a*?", "ab", true},
		{"*.isra.?", "f.isra.0", true},
		{"\xff*", "\xff\xfe", true},
		{"?", "\xc3", true},
	};

	check_matches(cases, ARRAY_SIZE(cases), false);
}

static void sets(void)
{
	static const struct match_case cases[] = {
		{"[abc]", "b", true},
		{"[abc]", "d", false},
		{"[abc]", "", false},
		{"[abc]", "ab", false},
		{"x[a-c]y", "xby", true},
		{"x[a-c]y", "xdy", false},
		{"[a-cx-z]", "y", true},
		{"[!a-c]", "d", true},
		{"[!a-c]", "b", false},
		{"[!a-c]", "", false},
		{"[^a-c]", "d", true},
		{"[^a-c]", "^", true},
		{"[a^]", "^", true},
		{"[a!]", "!", true},
		{"[]]", "]", true},
		{"[]a]", "a", true},
		{"[!]]", "]", false},
		{"[!]]", "a", true},
		{"[]-a]", "^", true},
		{"[-a]", "-", true},
		{"[a-]", "-", true},
		{"[a-]", "b", false},
		{"[z-a]", "m", false},
		{"[a-a]", "a", true},
		{"[a-c-e]", "d", false},
		{"[a-c-e]", "-", true},
		{"[*]", "*", true},
		{"[*]", "a", false},
		{"[?]", "a", false},
		{"[\\]", "\\", true},
		{"[[]", "[", true},
		{"[\x80-\xff]", "\xc3", true},
		{"[[:digit:]]", "7", true},
		{"[[:digit:]]", "a", false},
		{"[[:digit:]]", ":", false},
		{"[![:digit:]]", "a", true},
		{"[![:digit:]]", "7", false},
		{"[_[:alpha:]x]*", "_f", true},
		{"[[:upper:][:digit:]]", "A", true},
		{"[[:upper:][:digit:]]", "9", true},
		{"[[:upper:][:digit:]]", "a", false},
		{"[[:alpha:]]", "\xe9", false},
		{"[[:xdigit:]]", "f", true},
		{"[[:space:]]", "\t", true},
		{"[[:nonsense:]]", "n", false},
		{"[[:nonsense:]a]", "a", true},
		{"[[:a]", ":", true},
		{"[[:a]x:]", "ax:]", true},
		{"[[:a]x:]", "x", false},
		{"*[0-9]", "loop12", true},
		{"*[0-9]x", "loop12", false},
	};

	check_matches(cases, ARRAY_SIZE(cases), false);
}

/* Names of Go and Rust, as -l prints them. */
static void names_with_brackets(void)
{
	static const struct match_case cases[] = {
		{"main.Map[go.shape.int_0]", "main.Map[go.shape.int_0]", true},
		{"<[u8]>::len", "<[u8]>::len", true},
		{"<[u8]>::len", "<8>::len", true},
		{"<[u8]>::len", "<[u8]>::lens", false},
		{"x[ab]", "x[ab]", true},
		{"*[ab]", "x[ab]", false},
	};

	check_matches(cases, ARRAY_SIZE(cases), false);
}

static void not_special(void)
{
	static const struct match_case cases[] = {
		{"\\*", "\\anything", true},
		{"\\*", "*", false},
		{"a\\b", "a\\b", true},
		{"a\\b", "ab", false},
		{"[", "[", true},
		{"[abc", "[abc", true},
		{"[abc", "a", false},
		{"[]", "[]", true},
		{"[!]", "[!]", true},
		{"[!]", "a", false},
		{"a[", "a[", true},
		{"[[", "[[", true},
		{"]", "]", true},
		{"a-z", "b", false},
		{"a.c", "abc", false},
		{"a|b", "a", false},
		{"{a,b}", "a", false},
		{".*", ".x", true},
		{"[*", "[x", true},
	};

	check_matches(cases, ARRAY_SIZE(cases), false);
}

static void check_literal(const char *text, bool regex, bool expected)
{
	CLEANUP(pattern__freep) struct pattern *pattern = NULL;
	struct error error;

	CHECK_INT(pattern__new(&pattern, text, regex, &error), 0);
	tap_check(pattern__is_literal(pattern) == expected, __FILE__, __LINE__,
		  "'%s' is %sa literal", text, expected ? "not " : "");
}

static void literals(void)
{
	check_literal("vfs_read", false, true);
	check_literal("a\\b[", false, true);
	check_literal("[]", false, true);
	check_literal("a.c", false, true);
	check_literal("vfs_*", false, false);
	check_literal("vfs_rea?", false, false);
	check_literal("[v]fs_read", false, false);
	check_literal("vfs_read", true, false);
}

static void regexes(void)
{
	static const struct match_case cases[] = {
		{"read", "vfs_readv", true},
		{"^read", "vfs_read", false},
		{"^vfs", "vfs_read", true},
		{"read$", "vfs_read", true},
		{"read$", "vfs_readv", false},
		{"^vfs_read$", "vfs_read", true},
		{"^(vfs|ksys)_read$", "ksys_read", true},
		{"^a|b$", "ax", true},
		{"^a|b$", "xb", true},
		{"^a|b$", "xax", false},
		{"a|^b", "xb", false},
		{"tcp.*send", "tcp_x_sendmsg", true},
		{"x{2,3}", "axxb", true},
		{"x{2,3}", "axb", false},
		{"[[:digit:]]+$", "loop12", true},
		{"[)]", "a)", true},
		{"[]()]", "(", true},
		{"[!](a)", "!a", true},
		{"[[.).]]", ")", true},
		{"\\(", "f(int)", true},
		{"f\\)", "f)", true},
		{"a\\\\1", "a\\1", true},
		{"()", "", true},
		{"\xff", "a\xff", true},
		{"^.$", "\xff", true},
		{"", "x", true},
		{".", "", false},
	};

	check_matches(cases, ARRAY_SIZE(cases), true);
}

static void check_refused(const char *text, bool regex, const char *expected)
{
	struct pattern *pattern = NULL;
	struct error error = {.text = ""};

	CHECK_INT(pattern__new(&pattern, text, regex, &error), -EINVAL);
	CHECK(pattern == NULL);
	CHECK_STR(error.text, expected);
}

static void bad_regexes(void)
{
	check_refused("a(", true, "'a(' is not a regular expression: Unmatched ( or \\(");
	check_refused("[a", true,
		      "'[a' is not a regular expression: Unmatched [, [^, [:, [., or [=");
	check_refused("*", true,
		      "'*' is not a regular expression: Invalid preceding regular expression");
	check_refused("a\\", true, "'a\\' is not a regular expression: Trailing backslash");
	check_refused("a{2,1}", true,
		      "'a{2,1}' is not a regular expression: Invalid content of \\{\\}");
	check_refused("(a*)*\\1", true,
		      "'(a*)*\\1' is not a regular expression: back references (\\1) are not "
		      "supported");
	check_refused("[\\](a)\\1", true,
		      "'[\\](a)\\1' is not a regular expression: back references (\\1) are not "
		      "supported");
	check_refused("a)|b", true,
		      "'a)|b' is not a regular expression: a ')' without its '('; for itself "
		      "write \\)");
	check_refused("a)", true,
		      "'a)' is not a regular expression: a ')' without its '('; for itself write "
		      "\\)");
}

static void long_texts(void)
{
	char text[PATTERN_NAME_MAX + 2];
	CLEANUP(pattern__freep) struct pattern *literal = NULL;
	CLEANUP(pattern__freep) struct pattern *glob = NULL;
	CLEANUP(pattern__freep) struct pattern *regex = NULL;
	struct pattern *too_long = NULL;
	struct error error;

	memset(text, 'a', sizeof(text));
	text[PATTERN_NAME_MAX + 1] = '\0';
	CHECK_INT(pattern__new(&too_long, text, false, &error), -EINVAL);
	CHECK_INT(pattern__new(&too_long, text, true, &error), -EINVAL);
	CHECK_INT(pattern__new(&glob, "*a", false, &error), 0);
	CHECK_INT(pattern__new(&regex, "a", true, &error), 0);
	CHECK(!pattern__matches(glob, text));
	CHECK(!pattern__matches(regex, text));
	text[PATTERN_NAME_MAX] = '\0';
	CHECK_INT(pattern__new(&literal, text, false, &error), 0);
	CHECK(pattern__matches(literal, text));
	CHECK(pattern__matches(glob, text));
	CHECK(pattern__matches(regex, text));
}

/* Seconds that rounds times matching name takes. */
static double time_matches(const char *text, bool regex, const char *name, int rounds)
{
	CLEANUP(pattern__freep) struct pattern *pattern = NULL;
	double start = tap_cpu_seconds();
	struct error error;

	CHECK_INT(pattern__new(&pattern, text, regex, &error), 0);
	for (int i = 0; i < rounds; i++)
		CHECK(!pattern__matches(pattern, name));
	return tap_cpu_seconds() - start;
}

static void names_that_are_hard(void)
{
	char name[PATTERN_NAME_MAX + 1], stars[201] = "";

	memset(name, 'a', PATTERN_NAME_MAX);
	name[PATTERN_NAME_MAX] = '\0';
	for (int i = 0; i < 100; i++)
		strcat(stars, "a*");
	strcpy(stars + 199, "b");
	/* Backtracking would not end; one quadratic step each is 28 s and more. */
	CHECK(time_matches(stars, false, name, 1000) < 5);
	CHECK(time_matches("a+b", true, name, 1000) < 5);
	CHECK(time_matches("a.*a.*a.*b", true, name, 1000) < 5);
	CHECK(time_matches("((a*)*)*b", true, name, 1000) < 5);
}

/* Without forgetting, this takes 300 MB. */
static void memory_of_regexes(void)
{
	CLEANUP(pattern__freep) struct pattern *pattern = NULL;
	char name[PATTERN_NAME_MAX + 1] = "";
	struct error error;
	size_t most = 0;

	CHECK_INT(pattern__new(&pattern, "a.{16}b", true, &error), 0);
	srandom(1);
	for (int round = 0; round < 16; round++) {
		struct mallinfo2 memory;

		for (size_t i = 0; i < PATTERN_NAME_MAX; i++)
			name[i] = random() & 1 ? 'a' : 'x';
		CHECK(!pattern__matches(pattern, name));
		memory = mallinfo2();
		if (memory.uordblks + memory.hblkhd > most)
			most = memory.uordblks + memory.hblkhd;
	}
	tap_check(most < 100 << 20, __FILE__, __LINE__, "%zu bytes were in use", most);
}

static void sets_end(void)
{
	CHECK_STR(glob__skip_set("[a-z]x", false), "x");
	CHECK_STR(glob__skip_set("[[:alpha:]]:x", false), ":x");
	CHECK_STR(glob__skip_set("[!]a]x", false), "x");
	CHECK_STR(glob__skip_set("[!]a]x", true), "a]x");
	CHECK_STR(glob__skip_set("[[.].]a]x", true), "x");
	CHECK_STR(glob__skip_set("[[.].]a]x", false), ".]a]x");
	CHECK_STR(glob__skip_set("[[:a]x:]]", false), "x:]]");
	CHECK_STR(glob__skip_set("[[=a]x=]]y", true), "y");
	CHECK_STR(glob__skip_set("[abc", false), NULL);
	CHECK_STR(glob__skip_set("[[:alpha:]", false), NULL);
	CHECK_STR(glob__skip_set("x[a]", false), NULL);
	CHECK_STR(glob__skip_set("", false), NULL);
}

static void check_parameters(const char *text, bool regex, bool expected)
{
	CLEANUP(pattern__freep) struct pattern *pattern = NULL;
	struct error error;

	CHECK_INT(pattern__new(&pattern, text, regex, &error), 0);
	CHECK_INT(pattern__has_parameters(pattern), expected);
}

static void parameters(void)
{
	check_parameters("shop::sell(int)", false, true);
	check_parameters("*::operator()*", false, true);
	check_parameters("*int*", false, false);
	check_parameters("^(read|write)$", true, false);
	check_parameters("sell\\(int", true, true);
}

static const struct tap_test tests[] = {
	{"globs match whole names", globs},
	{"sets have ranges, classes and negation", sets},
	{"a glob matches the name that is its text", names_with_brackets},
	{"all else stands for itself, also what is never closed", not_special},
	{"what stands for itself only is known", literals},
	{"regular expressions match anywhere", regexes},
	{"bad regular expressions are refused, with libc's words", bad_regexes},
	{"names and patterns that are too long match nothing", long_texts},
	{"no name takes long", names_that_are_hard},
	{"libc's memory of names is bounded", memory_of_regexes},
	{"the end of a set is found", sets_end},
	{"parameters are asked for by a parenthesis", parameters},
};

int main(void)
{
	return TAP_RUN(tests);
}
