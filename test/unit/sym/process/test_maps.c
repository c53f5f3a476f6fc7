// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/maps.h"

#include <inttypes.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

static struct mapping_list read_text(const char *text)
{
	CLEANUP_FCLOSE FILE *file =
		text[0] ? fmemopen((void *)text, strlen(text), "r") : fopen("/dev/null", "r");
	struct mapping_list list = {0};

	CHECK_INT(mapping_list__read(&list, file), 0);
	return list;
}

#define CLEANUP_LIST CLEANUP(mapping_list__release)

static const char cat_text[] =
	"55d0c5a00000-55d0c5a02000 r--p 00000000 fe:01 1835035   /usr/bin/cat\n"
	"55d0c5a02000-55d0c5a07000 r-xp 00002000 fe:01 1835035   /usr/bin/cat\n"
	"55d0c6000000-55d0c6021000 rw-p 00000000 00:00 0         [heap]\n"
	"7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
	"7f1000000000-7f1000001000 --xs 00001000 00:2a 42        /tmp/a file (deleted)\n"
	"7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0         [vdso]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";

static void executable_mappings(void)
{
	CLEANUP_LIST
	struct mapping_list list = read_text(cat_text);

	if (!CHECK_INT(list.nr, 5))
		return;
	CHECK_INT(list.mappings[0].start, 0x55d0c5a02000);
	CHECK_INT(list.mappings[0].end, 0x55d0c5a07000);
	CHECK_INT(list.mappings[0].offset, 0x2000);
	CHECK_INT(list.mappings[0].device, makedev(0xfe, 1));
	CHECK_INT(list.mappings[0].inode, 1835035);
	CHECK_STR(list.mappings[0].path, "/usr/bin/cat");
	CHECK_STR(list.mappings[1].path, "");
	CHECK_INT(list.mappings[1].inode, 0);
	CHECK_STR(list.mappings[2].path, "/tmp/a file (deleted)");
	CHECK_INT(list.mappings[2].device, makedev(0, 0x2a));
	CHECK_STR(list.mappings[3].path, "[vdso]");
	CHECK_INT(list.mappings[4].end, 0xffffffffff601000);
}

/* What the second of three mappings is taken for. */
static void check_hole(const char *before, const char *hole, const char *after, uint64_t inode)
{
	char text[512];

	snprintf(text, sizeof(text), "%s\n%s\n%s\n", before, hole, after);
	CLEANUP_LIST
	struct mapping_list list = read_text(text);
	const struct mapping *found = &list.mappings[1];

	if (!CHECK_INT(list.nr, 3))
		return;
	CHECK_INT(found->inode, inode);
	if (inode != 7)
		return;
	CHECK_INT(found->offset, 0x3000);
	CHECK_INT(found->device, makedev(0xfe, 1));
	CHECK_STR(found->path, "/bin/node");
}

static void text_in_huge_pages(void)
{
	const char *before = "1000-2000 r-xp 00002000 fe:01 7 /bin/node",
		   *after = "400000-401000 r-xp 00401000 fe:01 7 /bin/node";

	check_hole(before, "2000-400000 r-xp 00000000 00:00 0", after, 7);
	check_hole(before, "2000-400000 r-xp 00000000 00:00 0 [anon:nodejs Large Page]", after, 7);
	check_hole(before, "2000-400000 r-xp 00000000 00:11 42 /anon_hugepage (deleted)", after, 7);
	/* It does not fill it, or is something else, or the parts do not belong together. */
	check_hole(before, "2000-300000 r-xp 00000000 00:00 0", after, 0);
	check_hole(before, "3000-400000 r-xp 00000000 00:00 0", after, 0);
	check_hole(before, "2000-400000 r-xp 00000000 00:00 0 [vdso]", after, 0);
	check_hole(before, "2000-400000 r-xp 00000000 fe:01 8 /bin/other", after, 8);
	check_hole(before, "2000-400000 r-xp 00000000 fe:01 8 /anon_hugepage", after, 8);
	check_hole(before, "2000-400000 r-xp 00000000 00:00 0",
		   "400000-401000 r-xp 00402000 fe:01 7 /bin/node", 0);
	check_hole(before, "2000-400000 r-xp 00000000 00:00 0",
		   "400000-401000 r-xp 00401000 fe:01 8 /bin/node", 0);
	check_hole(before, "2000-400000 r-xp 00000000 00:00 0",
		   "400000-401000 r-xp 00401000 fe:02 7 /bin/node", 0);
	check_hole("1000-2000 r-xp 00000000 00:00 0", "2000-400000 r-xp 00000000 00:00 0",
		   "400000-401000 r-xp 00000000 00:00 0", 0);
}

static void finding_addresses(void)
{
	CLEANUP_LIST
	struct mapping_list list = read_text(cat_text);

	CHECK(!mapping_list__find(&list, 0));
	CHECK(!mapping_list__find(&list, 0x55d0c5a01fff));
	CHECK(mapping_list__find(&list, 0x55d0c5a02000) == &list.mappings[0]);
	CHECK(mapping_list__find(&list, 0x55d0c5a06fff) == &list.mappings[0]);
	CHECK(!mapping_list__find(&list, 0x55d0c5a07000));
	CHECK(!mapping_list__find(&list, 0x55d0c6000000));
	CHECK(mapping_list__find(&list, 0x7f0000000000) == &list.mappings[1]);
	CHECK(mapping_list__find(&list, 0xffffffffff600fff) == &list.mappings[4]);
	CHECK(!mapping_list__find(&list, UINT64_MAX));
}

static void path_with_odd_characters(void)
{
	CLEANUP_LIST
	struct mapping_list list = read_text("1000-2000 r-xp 0 00:00 1 /a\\012b\n"
					     "2000-3000 r-xp 0 00:00 1 /tmp/\xff\x1b[31m\n"
					     "3000-4000 r-xp 0 00:00 1 anon_inode:[x y]\n");

	if (!CHECK_INT(list.nr, 3))
		return;
	CHECK_STR(list.mappings[0].path, "/a\\012b");
	CHECK_STR(list.mappings[1].path, "/tmp/\xff\x1b[31m");
	CHECK_STR(list.mappings[2].path, "anon_inode:[x y]");
}

static void line_without_an_end(void)
{
	CLEANUP_LIST
	struct mapping_list named = read_text("1000-2000 r-xp 0 00:00 1 /a");
	CLEANUP_LIST
	struct mapping_list nameless = read_text("1000-2000 r-xp 0 00:00 0");

	CHECK_INT(named.nr, 1);
	CHECK_INT(nameless.nr, 1);
	CHECK_STR(nameless.nr ? nameless.mappings[0].path : NULL, "");
}

static void malformed_lines(void)
{
	CLEANUP_LIST
	struct mapping_list list = read_text("\n"
					     "1000\n"
					     "1000-2000\n"
					     "1000-2000 r-xp\n"
					     "1000-2000 r-xp 0 0:0\n"
					     "1000-2000 r-x 0 0:0 0\n"
					     "1000-2000 r-xpp 0 0:0 0\n"
					     "1000 2000 r-xp 0 0:0 0\n"
					     "1000-1000 r-xp 0 0:0 0\n"
					     "2000-1000 r-xp 0 0:0 0\n"
					     "nonsense\n"
					     "3000-4000 r-xp 0 0:0 0 last\n");

	CHECK_INT(list.nr, 1);
	CHECK_STR(list.nr ? list.mappings[0].path : NULL, "last");
}

static void overlapping_lines(void)
{
	CLEANUP_LIST
	struct mapping_list list = read_text("1000-3000 r-xp 0 0:0 0 first\n"
					     "2000-4000 r-xp 0 0:0 0 across\n"
					     "0-1000 r-xp 0 0:0 0 before\n"
					     "3000-4000 r-xp 0 0:0 0 behind\n");

	if (!CHECK_INT(list.nr, 2))
		return;
	CHECK_STR(list.mappings[0].path, "first");
	CHECK_STR(list.mappings[1].path, "behind");
}

static void nothing_to_read(void)
{
	CLEANUP_LIST
	struct mapping_list list = read_text("");

	CHECK_INT(list.nr, 0);
	CHECK(!mapping_list__find(&list, 0x1000));
}

static void own_mappings(void)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/self/maps", "re");
	CLEANUP_LIST
	struct mapping_list list = {0};
	const struct mapping *own;

	CHECK_INT(mapping_list__read(&list, file), 0);
	own = mapping_list__find(&list, (uint64_t)(uintptr_t)own_mappings);
	if (CHECK(own))
		CHECK(own->inode != 0 && strstr(own->path, "test_sym_process_maps"));
}

#define MANY 70000 /* more than is kept */

static void too_many_mappings(void)
{
	CLEANUP_LIST
	struct mapping_list list = {0};
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (unsigned long i = 1; i <= MANY; i++)
		fprintf(file, "%lx000-%lx000 r-xp 0 0:0 0 \n", i, i + 1);
	fclose(file);
	file = fmemopen(text, size, "r");
	CHECK_INT(mapping_list__read(&list, file), 0);
	CHECK(list.nr >= 65530 && list.nr < MANY);
	CHECK(mapping_list__find(&list, 0x1000) == &list.mappings[0]);
	fclose(file);
	free(text);
}

static const struct tap_test tests[] = {
	{"executable mappings are read with all they have", executable_mappings},
	{"text that was copied to huge pages is that of the file", text_in_huge_pages},
	{"an address is found in the mapping that holds it", finding_addresses},
	{"paths are kept as the kernel prints them", path_with_odd_characters},
	{"a last line without a newline counts", line_without_an_end},
	{"malformed lines are left out", malformed_lines},
	{"lines that overlap or go back are left out", overlapping_lines},
	{"an empty file has no mappings", nothing_to_read},
	{"the mappings of this program hold its functions", own_mappings},
	{"mappings beyond a limit are left out", too_many_mappings},
};

int main(void)
{
	return TAP_RUN(tests);
}
