// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/options/comm_glob.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "bpf/abi.h"
#include "sym/util/array.h"
#include "test/unit/tap.h"

/* As bpf/filter.bpf.h does it. */
static bool matches(const struct comm_glob *glob, const char *comm)
{
	__u32 states = 1;

	for (; *comm; comm++)
		states = (states << 1 & glob->accepts[(unsigned char)*comm]) |
			 (states & glob->stays);
	return states & glob->end;
}

static void same_as_fnmatch(void)
{
	static const char *const patterns[] = {
		"",
		"*",
		"**",
		"?",
		"a",
		"ab",
		"a*",
		"*a",
		"*a*",
		"a*b",
		"a*b*c",
		"?a",
		"a?",
		"*?",
		"?*?",
		"[ab]",
		"[a-c]",
		"[!a]",
		"[]a]",
		"[!]a]",
		"[a-]",
		"\\*",
		"a\\?b",
		"*[a-b]c",
		"[[]",
		"*ab*ab*",
		"a*a*a*a*a",
		"\xff",
		"[\x80-\xff]*",
	};
	static const char *const names[] = {
		"",
		"a",
		"b",
		"ab",
		"ba",
		"abc",
		"aab",
		"aaaaaaaaaaaaaaa",
		"aaaaaaaaaaaaaab",
		"]",
		"[",
		"-",
		"*",
		"?",
		"a?b",
		"axb",
		"abab",
		"ababxab",
		"\xff",
		"\xc3\xa9",
		"xac",
		"xbc",
	};

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct comm_glob glob;

		CHECK_INT(comm_glob__compile(&glob, patterns[i]), 0);
		for (size_t at = 0; at < ARRAY_SIZE(names); at++)
			tap_check(matches(&glob, names[at]) == !fnmatch(patterns[i], names[at], 0),
				  __FILE__, __LINE__, "'%s' and '%s'", patterns[i], names[at]);
	}
}

static void refused(void)
{
	struct comm_glob glob;

	CHECK_INT(comm_glob__compile(&glob, "[a"), -EINVAL);
	CHECK_INT(comm_glob__compile(&glob, "["), -EINVAL);
	CHECK_INT(comm_glob__compile(&glob, "[]"), -EINVAL);
	CHECK_INT(comm_glob__compile(&glob, "a\\"), -EINVAL);
	CHECK_INT(comm_glob__compile(&glob, "0123456789abcdef"), -E2BIG);
	CHECK_INT(comm_glob__compile(&glob, "0123456789abcde"), 0);
	CHECK(matches(&glob, "0123456789abcde") && !matches(&glob, "0123456789abcd"));
	CHECK_INT(comm_glob__compile(&glob, "*0123456789abcde*"), 0);
}

static const struct tap_test tests[] = {
	{"the same names as fnmatch(3)", same_as_fnmatch},
	{"globs that do not end, and those that no name can match", refused},
};

int main(void)
{
	return TAP_RUN(tests);
}
