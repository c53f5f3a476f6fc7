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
	/* It does not fill it, or is something else, or the parts do not belong together. */
	check_hole(before, "2000-300000 r-xp 00000000 00:00 0", after, 0);
	check_hole(before, "3000-400000 r-xp 00000000 00:00 0", after, 0);
	check_hole(before, "2000-400000 r-xp 00000000 00:00 0 [vdso]", after, 0);
	check_hole(before, "2000-400000 r-xp 00000000 fe:01 8 /bin/other", after, 8);
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

/* ---- places in files ---- */

#define CLEANUP_INDEX CLEANUP(mapping_index__release)

static const char files_text[] = "1000000000-1000002000 r-xp 00004000 fe:01 7 /bin/a\n"
				 "2000000000-2000001000 r-xp 00004000 fe:01 8 /bin/b\n"
				 "3000000000-3000001000 r-xp 00002000 fe:01 7 /bin/a\n"
				 "4000000000-4000001000 r-xp 00005000 fe:02 7 /bin/a\n"
				 "5000000000-5000001000 r-xp 00004000 fe:01 7 /bin/a\n"
				 "6000000000-6000001000 r-xp 00005000 fe:01 7 /mnt/a\n"
				 "7f0000000000-7f0000001000 r-xp 00000000 00:00 0 //anon\n"
				 "7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0 [vdso]\n";

/* The addresses where the offset of an inode is mapped, each as "/ADDRESS". */
static const char *places_of(const struct mapping_index *index, ino_t inode, uint64_t offset)
{
	static char text[256];
	const struct sym_file_id file = {.device = inode ? makedev(0xfe, 1) : 0, .inode = inode};
	const struct mapping *found[MAPPING_FILES_MAX];
	size_t nr = mapping_index__find(index, &file, offset, found), length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < nr; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "/%" PRIx64,
					   found[i]->start + (offset - found[i]->offset));
	return text;
}

static void finding_places_in_files(void)
{
	CLEANUP_LIST
	struct mapping_list list = read_text(files_text);
	CLEANUP_INDEX
	struct mapping_index index = {0};

	CHECK_INT(mapping_index__make(&index, &list), 0);
	CHECK_STR(places_of(&index, 7, 0x1fff), "");
	CHECK_STR(places_of(&index, 7, 0x2000), "/3000000000");
	CHECK_STR(places_of(&index, 7, 0x2fff), "/3000000fff");
	CHECK_STR(places_of(&index, 7, 0x3000), "");
	/* The one of two that reaches farther; another path adds one more. */
	CHECK_STR(places_of(&index, 7, 0x4010), "/1000000010");
	CHECK_STR(places_of(&index, 7, 0x5010), "/1000001010/6000000010");
	CHECK_STR(places_of(&index, 7, 0x6000), "");
	CHECK_STR(places_of(&index, 8, 0x4000), "/2000000000");
	CHECK_STR(places_of(&index, 9, 0x4000), "");
	CHECK_STR(places_of(&index, 0, 0x10), "/7ffd00000010");
	CHECK_STR(places_of(&index, 0, 0x2000), "");
	CHECK_STR(places_of(&index, 7, UINT64_MAX), "");
}

static void file_with_many_names(void)
{
	CLEANUP_LIST
	struct mapping_list list = {0};
	CLEANUP_INDEX
	struct mapping_index index = {0};
	const struct mapping *found[MAPPING_FILES_MAX];
	const struct sym_file_id file = {.device = makedev(0xfe, 1), .inode = 7};
	char text[4096];
	size_t length = 0;

	for (unsigned int i = 1; i <= 2 * MAPPING_FILES_MAX; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "%x000-%x000 r-xp 0 fe:1 7 /%u\n", i, i + 1, i);
	list = read_text(text);
	CHECK_INT(mapping_index__make(&index, &list), 0);
	CHECK_INT(mapping_index__find(&index, &file, 0, found), MAPPING_FILES_MAX);
}

/* As many as a process can have, and as many questions, half of them about files not there. */
static void many_places_in_files(void)
{
	struct mapping_list list = {.mappings = calloc(MANY, sizeof(*list.mappings)), .nr = MANY};
	CLEANUP_INDEX
	struct mapping_index index = {0};
	const struct sym_file_id file = {.device = 1, .inode = 7};
	const struct mapping *found[MAPPING_FILES_MAX];
	clock_t begin = clock();
	size_t nr = 0;

	if (!CHECK(list.mappings))
		return;
	for (uint64_t i = 0; i < MANY; i++)
		list.mappings[i] = (struct mapping){.start = i * 8,
						    .end = i * 8 + 4,
						    .offset = (MANY - i) * 8,
						    .device = 1,
						    .inode = 7,
						    .path = "path"};
	CHECK_INT(mapping_index__make(&index, &list), 0);
	for (uint64_t i = 0; i < (uint64_t)2 * MANY; i++)
		nr += mapping_index__find(&index, &file, 8 + i * 4, found);
	CHECK_INT(nr, MANY);
	CHECK(clock() - begin < CLOCKS_PER_SEC);
	free(list.mappings);
}

/* ---- one over the other ---- */

/* "start-end+offset path" of each, in units that make short tests. */
static void check_laid(const struct mapping_list *list, const char *expected)
{
	char text[512] = "";
	size_t length = 0;

	for (size_t i = 0; i < list->nr && length < sizeof(text); i++) {
		const struct mapping *mapping = &list->mappings[i];

		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "%s%" PRIx64 "-%" PRIx64 "+%" PRIx64 " %s",
					   i ? ", " : "", mapping->start, mapping->end,
					   mapping->offset, mapping->path);
	}
	CHECK_STR(text, expected);
}

static const struct mapping below[] = {{.start = 0x10, .end = 0x20, .offset = 0x10, .path = "a"},
				       {.start = 0x20, .end = 0x30, .offset = 0x50, .path = "b"},
				       {.start = 0x40, .end = 0x50, .offset = 0, .path = "c"}};

static void check_one_above(uint64_t start, uint64_t end, const char *expected)
{
	const struct mapping above = {.start = start, .end = end, .offset = 7, .path = "x"};
	const struct mapping_list nothing = {0};
	const struct mapping_list base = {.mappings = (struct mapping *)below,
					  .nr = ARRAY_SIZE(below)};
	struct mapping all[ARRAY_SIZE(below) + 1];
	CLEANUP_LIST
	struct mapping_list on_base = {0};
	CLEANUP_LIST
	struct mapping_list in_turn = {0};

	memcpy(all, below, sizeof(below));
	all[ARRAY_SIZE(below)] = above;
	CHECK_INT(mapping_list__lay(&on_base, &base, &above, 1), 0);
	check_laid(&on_base, expected);
	CHECK_INT(mapping_list__lay(&in_turn, &nothing, all, ARRAY_SIZE(all)), 0);
	check_laid(&in_turn, expected);
}

static void laid_over_others(void)
{
	check_one_above(0x8, 0x9, "8-9+7 x, 10-20+10 a, 20-30+50 b, 40-50+0 c");
	check_one_above(0x60, 0x70, "10-20+10 a, 20-30+50 b, 40-50+0 c, 60-70+7 x");
	check_one_above(0x30, 0x40, "10-20+10 a, 20-30+50 b, 30-40+7 x, 40-50+0 c");
	check_one_above(0x10, 0x20, "10-20+7 x, 20-30+50 b, 40-50+0 c");
	check_one_above(0x14, 0x18, "10-14+10 a, 14-18+7 x, 18-20+18 a, 20-30+50 b, 40-50+0 c");
	check_one_above(0x10, 0x18, "10-18+7 x, 18-20+18 a, 20-30+50 b, 40-50+0 c");
	check_one_above(0x18, 0x20, "10-18+10 a, 18-20+7 x, 20-30+50 b, 40-50+0 c");
	check_one_above(0x18, 0x44, "10-18+10 a, 18-44+7 x, 44-50+4 c");
	check_one_above(0x8, 0x28, "8-28+7 x, 28-30+58 b, 40-50+0 c");
	check_one_above(0, UINT64_MAX, "0-ffffffffffffffff+7 x");
	check_one_above(0x18, 0x18, "10-20+10 a, 20-30+50 b, 40-50+0 c");
	check_one_above(0x28, 0x18, "10-20+10 a, 20-30+50 b, 40-50+0 c");
}

/* The list owns its mappings, and stays within the bounds of a list that is read. */
static void laid_upon_many(void)
{
	struct mapping_list base = {.mappings = calloc(MANY, sizeof(*base.mappings)), .nr = MANY};
	char path[] = "path";
	const struct mapping above = {.start = 1, .end = 2, .path = path};
	CLEANUP_LIST
	struct mapping_list list = {0};

	if (!CHECK(base.mappings))
		return;
	for (uint64_t i = 0; i < MANY; i++)
		base.mappings[i] = (struct mapping){.start = i * 8, .end = i * 8 + 4, .path = path};
	CHECK_INT(mapping_list__lay(&list, &base, &above, 1), 0);
	free(base.mappings);
	memset(path, 'x', strlen(path));
	CHECK(list.nr >= 65530 && list.nr < MANY);
	CHECK_INT(list.mappings[1].end, 2);
	CHECK_STR(list.mappings[1].path, "path");
	CHECK_STR(list.mappings[list.nr - 1].path, "path");
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
	{"a place in a file is found where that is mapped", finding_places_in_files},
	{"a file with names without end is not looked for in all", file_with_many_names},
	{"places in a file of many mappings are found at once", many_places_in_files},
	{"a mapping takes the place of what it overlaps", laid_over_others},
	{"mappings that are laid upon many stay within the limit", laid_upon_many},
};

int main(void)
{
	return TAP_RUN(tests);
}
