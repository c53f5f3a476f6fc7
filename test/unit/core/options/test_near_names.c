// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/options/near_names.h"

#include <stdio.h>
#include <string.h>

#include "sym/util/array.h"
#include "test/unit/tap.h"

/* The hint for wanted among names, separated by spaces, offered forwards or backwards. */
static const char *hint(const char *wanted, const char *names, bool backwards)
{
	static char text[NEAR_NAMES_TEXT_SIZE];
	struct near_names near = {.wanted = wanted};
	char copy[1024], *words[64], *rest = copy, *word;
	size_t nr = 0;

	snprintf(copy, sizeof(copy), "%s", names);
	while ((word = strsep(&rest, " ")) && nr < ARRAY_SIZE(words))
		words[nr++] = word;
	for (size_t i = 0; i < nr; i++)
		near_names__offer(&near, words[backwards ? nr - 1 - i : i]);
	near_names__text(&near, text, sizeof(text));
	return text;
}

static void check_hint(const char *wanted, const char *names, const char *expected)
{
	CHECK_STR(hint(wanted, names, false), expected);
	CHECK_STR(hint(wanted, names, true), expected);
}

static void edits(void)
{
	check_hint("vfs_raed", "vfs_read tcp_send", " (did you mean 'vfs_read'?)");
	check_hint("vfs_rea", "vfs_read", " (did you mean 'vfs_read'?)");
	check_hint("vfs_readd", "vfs_read", " (did you mean 'vfs_read'?)");
	check_hint("vfx_reaf", "vfs_read", " (did you mean 'vfs_read'?)");
	check_hint("bfx_reaf", "vfs_read", "");
	check_hint("vsf_raed", "vfs_read", " (did you mean 'vfs_read'?)");
	check_hint("tcp_sendmsg_lockde", "tcp_sendmsg_locked",
		   " (did you mean 'tcp_sendmsg_locked'?)");
	/* A quarter of 16 is 4. */
	check_hint("abcdefghijklmnop", "abcdefghijkl1234 bbcdefghijkl1234",
		   " (did you mean 'abcdefghijkl1234'?)");
	check_hint("abcdefghijklmnop", "abcdefghijklmnopqrst 1234abcdefghijklmnop",
		   " (did you mean '1234abcdefghijklmnop' or 'abcdefghijklmnopqrst'?)");
	check_hint("abcdefghijklmnop", "abcdefghijkl efghijklmnop efghijklmno",
		   " (did you mean 'abcdefghijkl' or 'efghijklmnop'?)");
}

static void short_names(void)
{
	check_hint("", "a ab abc", "");
	check_hint("a", "b ab abc", "");
	check_hint("a", "A", " (did you mean 'A'?)");
	check_hint("ab", "xy ac bc", " (did you mean 'ac'?)");
	check_hint("foo", "bar fob fxx", " (did you mean 'fob'?)");
}

static void order(void)
{
	check_hint("read", "ready reads READ raed road",
		   " (did you mean 'READ', 'raed' or 'reads'?)");
	check_hint("read", "read2 read1 read4 read3 read1",
		   " (did you mean 'read1', 'read2' or 'read3'?)");
	check_hint("sched", "sched_ext_long sched_switch sched_wakeup scheb",
		   " (did you mean 'scheb', 'sched_switch' or 'sched_wakeup'?)");
}

static void other_case(void)
{
	check_hint("GC__start", "gc__start gc__done", " (did you mean 'gc__start'?)");
	check_hint("VFS_RE", "vfs_read", " (did you mean 'vfs_read'?)");
}

static void beginnings(void)
{
	check_hint("tcp_send", "tcp_sendmsg_locked tcp_sendmsg_fastopen udp_sendmsg",
		   " (did you mean 'tcp_sendmsg_locked' or 'tcp_sendmsg_fastopen'?)");
	check_hint("tc", "tcp_sendmsg", "");
	check_hint("tcp_sendmsg_locked", "tcp_send", "");
}

static void nothing_wanted(void)
{
	struct near_names near = {.wanted = NULL};
	char text[8] = "x";

	near_names__offer(&near, "");
	near_names__offer(&near, "a");
	near_names__text(&near, text, sizeof(text));
	CHECK_STR(text, "");
}

static void long_names(void)
{
	char wanted[NEAR_NAME_SIZE + 1], name[NEAR_NAME_SIZE + 1], expected[NEAR_NAMES_TEXT_SIZE];

	memset(wanted, 'a', sizeof(wanted));
	memset(name, 'a', sizeof(name));
	wanted[NEAR_NAME_SIZE - 1] = name[NEAR_NAME_SIZE - 1] = '\0';
	name[NEAR_NAME_SIZE - 2] = 'b';
	snprintf(expected, sizeof(expected), " (did you mean '%s'?)", name);
	CHECK_STR(hint(wanted, name, false), expected);
	/* A letter more is too long, on either side. */
	name[NEAR_NAME_SIZE - 1] = 'a';
	name[NEAR_NAME_SIZE] = '\0';
	CHECK_STR(hint(wanted, name, false), "");
	CHECK_STR(hint(name, wanted, false), "");
}

static void hostile_names(void)
{
	check_hint("evil", "ev\033l", " (did you mean 'ev?l'?)");
}

static void cut_texts(void)
{
	struct near_names near = {.wanted = "read"};
	char text[16];

	near_names__offer(&near, "reads");
	near_names__offer(&near, "ready");
	for (size_t size = 1; size <= sizeof(text); size++) {
		memset(text, 'x', sizeof(text));
		near_names__text(&near, text, size);
		CHECK_INT(strlen(text), size - 1);
	}
}

/* As many as a kernel has. */
static void many_names(void)
{
	struct near_names near = {.wanted = "ext4_file_write_itre"};
	double start = tap_cpu_seconds();
	char name[64], text[NEAR_NAMES_TEXT_SIZE];

	for (int i = 0; i < 200000; i++) {
		snprintf(name, sizeof(name), "ext%d_file_wr%c_it", i % 100, 'a' + i % 26);
		near_names__offer(&near, name);
	}
	near_names__offer(&near, "ext4_file_write_iter");
	near_names__text(&near, text, sizeof(text));
	CHECK(strncmp(text, " (did you mean 'ext4_file_write_iter', ", 39) == 0);
	CHECK(tap_cpu_seconds() - start < 2);
}

static const struct tap_test tests[] = {
	{"names that few edits lead to are near", edits},
	{"short names have few neighbours", short_names},
	{"the nearest come first, in whatever order they were offered", order},
	{"letter case does not matter", other_case},
	{"what begins with a name is near", beginnings},
	{"nothing is near to nothing", nothing_wanted},
	{"long names are near to nothing", long_names},
	{"what is printed is clean", hostile_names},
	{"a text is cut to its room", cut_texts},
	{"many names are compared in no time", many_names},
};

int main(void)
{
	return TAP_RUN(tests);
}
