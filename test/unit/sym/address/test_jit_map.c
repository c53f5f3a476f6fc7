// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/address/jit_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/address/jit_index.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/open_bytes.h"
#include "test/unit/tap.h"

#define MUCH_WORK ((uint64_t)64 * 1024 * 1024)

/* A map in memory with this text, or -1. */
static int open_text(const char *text)
{
	return open_bytes(text, strlen(text));
}

/* Look up addresses; names stay valid until the next call. */
static void find(int fd, struct jit_lookup *lookups, size_t nr)
{
	static struct arena names;

	arena__release(&names);
	names = (struct arena){0};
	CHECK_INT(jit_map__find(NULL, fd, lookups, nr, &names, &(uint64_t){MUCH_WORK}), 0);
}

/* The name of one address, and where its function starts. */
static const char *name_and_start(int fd, uint64_t address, uint64_t *start)
{
	struct jit_lookup lookup = {.address = address, .name = "old"};

	find(fd, &lookup, 1);
	*start = lookup.start;
	return lookup.name;
}

static const char *name_in(int fd, uint64_t address)
{
	uint64_t start;

	return name_and_start(fd, address, &start);
}

/* The same, of a map with this text. */
static const char *name_at(const char *text, uint64_t address)
{
	CLEANUP_CLOSE int fd = open_text(text);

	return name_in(fd, address);
}

/* ---- lines ---- */

static void numbers_with_and_without_0x(void)
{
	static const char map[] = "1000 10 plain\n"
				  "0x2000 0x10 both\n"
				  "0X3000 10 capital\n"
				  "4000 0X1F size\n"
				  "abcDEF 10 mixed\n"
				  "0000000000000000000000005000 00000000000000000000010 zeros\n";

	CHECK_STR(name_at(map, 0x100f), "plain");
	CHECK_STR(name_at(map, 0x1010), NULL);
	CHECK_STR(name_at(map, 0x2000), "both");
	CHECK_STR(name_at(map, 0x300f), "capital");
	CHECK_STR(name_at(map, 0x401e), "size");
	CHECK_STR(name_at(map, 0x401f), NULL);
	CHECK_STR(name_at(map, 0xabcdef), "mixed");
	CHECK_STR(name_at(map, 0x500f), "zeros");
}

static void names_are_the_rest_of_the_line(void)
{
	static const char map[] = "1000 10 LazyCompile:~get a/b.js:1:2 with spaces \n"
				  "2000 10  indented\n"
				  "3000 10 py::f:<string>\r\n"
				  "4000 10 4000 10 x\n"
				  "5000 10 \xc3\xa9\x01;\n";

	CHECK_STR(name_at(map, 0x1000), "LazyCompile:~get a/b.js:1:2 with spaces ");
	CHECK_STR(name_at(map, 0x2000), " indented");
	CHECK_STR(name_at(map, 0x3000), "py::f:<string>\r");
	CHECK_STR(name_at(map, 0x4000), "4000 10 x");
	CHECK_STR(name_at(map, 0x5000), "\xc3\xa9\x01;");
}

static void lines_that_are_none(void)
{
	static const char *const lines[] = {
		"",
		" ",
		"1000",
		"1000 ",
		"1000 10",
		"1000 10 ",
		" 1000 10 a",
		"1000  10 a",
		"1000\t10 a",
		"1000 10\ta",
		"-1000 10 a",
		"+1000 10 a",
		"1000 -10 a",
		"1000, 10 a",
		"0x0x1000 10 a",
		"1000 g 10 a",
		"1000 10x a",
		"1000 10 \n1000",
		"# 1000 10 a",
		"0 1000 10",
		"x1000 10 a",
		"\n\n\n",
		"1000 10000\r10 a",
		"10000000000001000 10 a",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char map[128];

		snprintf(map, sizeof(map), "%s\n2000 10 good\n", lines[i]);
		tap_check(!name_at(map, 0x1000), __FILE__, __LINE__, "'%s' is taken for a line",
			  lines[i]);
		CHECK_STR(name_at(map, 0x2000), "good");
	}
}

static void sizes_of_nothing(void)
{
	CHECK_STR(name_at("1000 0 empty\n", 0x1000), NULL);
	CHECK_STR(name_at("1000 0 empty\n", 0xfff), NULL);
	CHECK_STR(name_at("1000 1 one\n1000 0 empty\n", 0x1000), "one");
	CHECK_STR(name_at("0 0 a\n", 0), NULL);
}

static void sizes_up_to_the_end(void)
{
	static const char all[] = "0 ffffffffffffffff all\n";
	static const char beyond[] = "fffffffffffff000 ffffffffffffffff beyond\n";

	CHECK_STR(name_at(all, 0), "all");
	CHECK_STR(name_at(all, UINT64_MAX - 1), "all");
	CHECK_STR(name_at(all, UINT64_MAX), NULL);
	CHECK_STR(name_at(beyond, UINT64_MAX), "beyond");
	CHECK_STR(name_at(beyond, 0xfffffffffffff000), "beyond");
	/* It does not begin again at 0. */
	CHECK_STR(name_at(beyond, 0), NULL);
	CHECK_STR(name_at(beyond, 0xffffffffffffefff), NULL);
	CHECK_STR(name_at("ffffffffffffffff 1 last\n", UINT64_MAX), "last");
	CHECK_STR(name_at("10000000000000000 10 too far\n", 0), NULL);
	CHECK_STR(name_at("0 10000000000000000 too long\n", 0), NULL);
}

static void later_lines_win(void)
{
	static const char map[] = "1000 100 old\n"
				  "1040 10 inner\n"
				  "10f0 20 across\n"
				  "2000 10 first\n"
				  "2000 20 second\n";
	CLEANUP_CLOSE int fd = open_text(map);
	uint64_t start;

	CHECK_STR(name_and_start(fd, 0x103f, &start), "old");
	CHECK_INT(start, 0x1000);
	CHECK_STR(name_and_start(fd, 0x104f, &start), "inner");
	CHECK_INT(start, 0x1040);
	CHECK_STR(name_and_start(fd, 0x1050, &start), "old");
	CHECK_STR(name_and_start(fd, 0x10f0, &start), "across");
	CHECK_STR(name_and_start(fd, 0x110f, &start), "across");
	CHECK_INT(start, 0x10f0);
	CHECK_STR(name_and_start(fd, 0x2000, &start), "second");
	CHECK_STR(name_at("1040 10 inner\n1000 100 new\n", 0x1040), "new");
}

/* A name ends at its NUL; a NUL at its start means no name. */
static void names_with_nul(void)
{
	static const char map[] = "1000 10 a\0b\n2000 10 \0b\n3000 10 c\n";
	CLEANUP_CLOSE int fd = open_bytes(map, sizeof(map) - 1);

	CHECK_STR(name_in(fd, 0x1000), "a");
	CHECK_STR(name_in(fd, 0x2000), NULL);
	CHECK_STR(name_in(fd, 0x3000), "c");
}

static void last_line_without_its_end(void)
{
	CHECK_STR(name_at("1000 10 whole\n2000 10 cut sho", 0x1000), "whole");
	CHECK_STR(name_at("1000 10 whole\n2000 10 cut sho", 0x2000), NULL);
	CHECK_STR(name_at("1000 10 a", 0x1000), NULL);
}

static void nothing_in_it(void)
{
	CHECK_STR(name_at("", 0), NULL);
	CHECK_STR(name_at("\n", 0), NULL);
}

/* ---- lookups ---- */

static void many_lookups(void)
{
	static const char map[] = "1020 10 b\n1000 18 a\n1040 10 c\n1048 4 d\n";
	CLEANUP_CLOSE int fd = open_text(map);
	struct jit_lookup lookups[2 * 0x60];

	/* Each address twice. */
	for (size_t i = 0; i < ARRAY_SIZE(lookups); i++)
		lookups[i] = (struct jit_lookup){.address = 0x1000 + i / 2, .name = "old"};
	find(fd, lookups, ARRAY_SIZE(lookups));
	for (size_t i = 0; i < ARRAY_SIZE(lookups); i++) {
		char name[8] = "";
		uint64_t start;
		const char *alone;

		if (lookups[i].name)
			snprintf(name, sizeof(name), "%s", lookups[i].name);
		alone = name_and_start(fd, lookups[i].address, &start);
		CHECK_STR(name, alone ? alone : "");
		if (alone)
			CHECK_INT(lookups[i].start, start);
		/* The names of the array were in the arena of that call. */
		find(fd, lookups, ARRAY_SIZE(lookups));
	}
	find(fd, lookups, 0);
}

/* A failed lookup must not keep an old answer. */
static void old_answers_are_removed(void)
{
	CLEANUP_CLOSE int fd = open_text("1000 10 a\n");
	struct jit_lookup lookups[] = {{.address = 0, .name = "old"},
				       {.address = 0x1000, .name = "old"},
				       {.address = 0x1010, .name = "old"}};

	find(fd, lookups, ARRAY_SIZE(lookups));
	CHECK_STR(lookups[0].name, NULL);
	CHECK_STR(lookups[1].name, "a");
	CHECK_STR(lookups[2].name, NULL);
}

static void maps_that_cannot_be_read(void)
{
	int ends[2];

	CHECK_STR(name_in(-1, 0x1000), NULL);
	CHECK_INT(pipe(ends), 0);
	CHECK_STR(name_in(ends[1], 0x1000), NULL);
	close(ends[0]);
	close(ends[1]);
}

static void maps_that_grow(void)
{
	CLEANUP_CLOSE int fd = open_text("1000 10 first\n2000 10 sec");

	CHECK_STR(name_in(fd, 0x1000), "first");
	CHECK_STR(name_in(fd, 0x2000), NULL);
	CHECK_INT(dprintf(fd, "ond\n1000 10 replaced\n"), 21);
	CHECK_STR(name_in(fd, 0x1000), "replaced");
	CHECK_STR(name_in(fd, 0x2000), "second");
	CHECK_INT(ftruncate(fd, 14), 0);
	CHECK_STR(name_in(fd, 0x1000), "first");
	CHECK_STR(name_in(fd, 0x2000), NULL);
}

/* ---- sizes ---- */

#define BLOCK ((size_t)64 * 1024) /* what is read at once */

/* Lines that end anywhere around the end of a block. */
static void lines_across_blocks(void)
{
	for (size_t padding = BLOCK - 24; padding < BLOCK + 2; padding++) {
		CLEANUP_FREE char *map = malloc(2 * BLOCK);
		size_t used = 0;

		while (used < padding)
			used += (size_t)sprintf(
				map + used, "%s\n",
				padding - used > 100 ? "a000 10 aaaaaaaaaaaaaaaaaaaaaaaaaaaa" : "");
		strcpy(map + used, "1000 10 across\n2000 10 behind\n");
		CHECK_STR(name_at(map, 0x1000), "across");
		CHECK_STR(name_at(map, 0x2000), "behind");
	}
}

/* A map of one line, "1000 10 nnn...", of length bytes before its end, and another one. */
static char *make_long_line(size_t length)
{
	static const char start[] = "1000 10 ", behind[] = "\n2000 10 behind\n";
	char *map = malloc(length + sizeof(behind));

	memset(map, 'n', length);
	memcpy(map, start, strlen(start));
	memcpy(map + length, behind, sizeof(behind));
	return map;
}

static void long_names_are_cut(void)
{
	static const size_t lengths[] = {1023, 1024, 1025, 5000, BLOCK - 9};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		CLEANUP_FREE char *map = make_long_line(strlen("1000 10 ") + lengths[i]);
		const char *name = name_at(map, 0x1000);

		CHECK_INT(name ? strspn(name, "n") : 0, lengths[i] < 1024 ? lengths[i] : 1024);
		CHECK_INT(name ? strlen(name) : 0, lengths[i] < 1024 ? lengths[i] : 1024);
		CHECK_STR(name_at(map, 0x2000), "behind");
	}
}

static void lines_longer_than_a_block(void)
{
	static const size_t lengths[] = {BLOCK, BLOCK + 1, 2 * BLOCK - 1, 2 * BLOCK, 5 * BLOCK};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		CLEANUP_FREE char *map = make_long_line(lengths[i]);

		CHECK_STR(name_at(map, 0x1000), NULL);
		CHECK_STR(name_at(map, 0x2000), "behind");
	}
}

/* The rest of such a line can look like a line when blocks were taken off. */
static void end_of_a_longer_line(void)
{
	for (size_t shift = 0; shift < 4; shift++) {
		CLEANUP_FREE char *map = make_long_line(3 * BLOCK - shift);

		memcpy(map + BLOCK, "3000 10 second block", 20);
		memcpy(map + 2 * BLOCK, "4000 10 third block", 19);
		CHECK_STR(name_at(map, 0x3000), NULL);
		CHECK_STR(name_at(map, 0x4000), NULL);
		CHECK_STR(name_at(map, 0x2000), "behind");
	}
}

/* As many bytes as there may be, of letters that mean something and of all. */
static void garbage(void)
{
	static const char letters[] = "0123456789abcdefx  \n\n";
	CLEANUP_FREE char *map = malloc(4 * BLOCK);
	uint32_t random = 1;

	for (int round = 0; round < 16; round++) {
		CLEANUP_CLOSE int fd = -1;
		struct jit_lookup lookups[64];

		for (size_t i = 0; i < 4 * BLOCK; i++) {
			random = random * 1664525 + 1013904223;
			map[i] = round % 2 ? letters[(random >> 16) % strlen(letters)] :
					     (char)(random >> 16);
		}
		fd = open_bytes(map, 4 * BLOCK);
		for (size_t i = 0; i < ARRAY_SIZE(lookups); i++)
			lookups[i].address = i < 32 ? i : UINT64_MAX >> (64 - i);
		find(fd, lookups, ARRAY_SIZE(lookups));
		for (size_t i = 0; i < ARRAY_SIZE(lookups); i++)
			if (lookups[i].name)
				CHECK(lookups[i].start <= lookups[i].address);
	}
}

#define SECONDS_LATE 10 /* sanitizers and busy machines take their share of one */

static void sparse_map_of_a_terabyte(void)
{
	static const char last[] = "\n3000 10 behind the bound\n";
	CLEANUP_CLOSE int fd = open_text("1000 10 first\n2000 10 ");
	struct jit_lookup lookups[] = {
		{.address = 0x1000}, {.address = 0x2000}, {.address = 0x3000}};
	struct arena names = {0};
	double start, seconds;

	CHECK_INT(ftruncate(fd, 1LL << 40), 0);
	CHECK_INT(pwrite(fd, last, strlen(last), JIT_MAP_BYTES_MAX + BLOCK), strlen(last));
	start = tap_cpu_seconds();
	CHECK_INT(jit_map__find(NULL, fd, lookups, ARRAY_SIZE(lookups), &names,
				&(uint64_t){MUCH_WORK}),
		  -EFBIG);
	seconds = tap_cpu_seconds() - start;
	tap_check(seconds < SECONDS_LATE, __FILE__, __LINE__, "it took %.1f seconds", seconds);
	CHECK_STR(lookups[0].name, "first");
	CHECK_STR(lookups[1].name, NULL);
	CHECK_STR(lookups[2].name, NULL);
	arena__release(&names);
}

/* ---- maps that are asked again ---- */

#define CLEANUP_LIST CLEANUP(jit_index_list__release)

static uint32_t next_random(uint32_t below)
{
	static uint32_t random = 1;

	random = random * 1664525 + 1013904223;
	return (random >> 8) % below;
}

/* A kept index makes no difference to the names and starts that are found. */
static void check_kept(struct jit_index_list *list, int fd)
{
	struct jit_lookup kept[64], whole[64];
	struct arena names = {0};

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		whole[i] = kept[i] = (struct jit_lookup){.address = 0x1000 + 67 * i};
	CHECK_INT(jit_map__find(list, fd, kept, ARRAY_SIZE(kept), &names, &(uint64_t){MUCH_WORK}),
		  0);
	CHECK_INT(jit_map__find(NULL, fd, whole, ARRAY_SIZE(whole), &names, &(uint64_t){MUCH_WORK}),
		  0);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		CHECK_STR(kept[i].name, whole[i].name);
		if (kept[i].name)
			CHECK_INT(kept[i].start, whole[i].start);
	}
	arena__release(&names);
}

static void append_lines(int fd, size_t lines)
{
	CLEANUP_FREE char *text = malloc(lines * 64 + 1);
	size_t used = 0;

	lseek(fd, 0, SEEK_END);
	for (size_t i = 0; i < lines; i++)
		used += (size_t)sprintf(text + used, "%x %x f%u\n", 0x1000 + next_random(0x1200),
					next_random(8) ? next_random(0x40) : next_random(0x1000),
					next_random(1000000));
	/* Sometimes the last line is not whole yet. */
	used -= used && next_random(3) == 0 ? 3 : 0;
	CHECK_INT(write(fd, text, used), used);
}

static void kept_maps_that_change(void)
{
	CLEANUP_LIST struct jit_index_list list = {0};
	CLEANUP_CLOSE int fd = open_text("");

	for (int step = 0; step < 300; step++) {
		off_t size = lseek(fd, 0, SEEK_END);

		switch (next_random(12)) {
		case 0:
			CHECK_INT(ftruncate(fd, (off_t)next_random((uint32_t)size + 1)), 0);
			break;
		case 1:
			CHECK_INT(ftruncate(fd, 0), 0);
			append_lines(fd, (size_t)size / 8); /* longer than it was */
			break;
		case 2:
			append_lines(fd, 3000);
			break;
		default:
			append_lines(fd, next_random(40));
		}
		check_kept(&list, fd);
		if (lseek(fd, 0, SEEK_END) > 256 * 1024)
			CHECK_INT(ftruncate(fd, 0), 0);
	}
}

/* The third question, and all that follow, cost only the new lines. */
static void kept_maps_are_not_read_again(void)
{
	CLEANUP_LIST struct jit_index_list list = {0};
	CLEANUP_CLOSE int fd = open_text("1000 10 first\n");
	struct jit_lookup lookup = {.address = 0x1000};
	struct arena names = {0};
	uint64_t work = MUCH_WORK;

	append_lines(fd, 20000);
	CHECK_INT(write(fd, "\n1000 10 last\n", 14), 14);
	for (int i = 0; i < 3; i++) {
		work = MUCH_WORK;
		CHECK_INT(jit_map__find(&list, fd, &lookup, 1, &names, &work), 0);
		CHECK_STR(lookup.name, "last");
	}
	CHECK(list.entries > 15000);
	work = MUCH_WORK;
	CHECK_INT(jit_map__find(&list, fd, &lookup, 1, &names, &work), 0);
	CHECK(MUCH_WORK - work < 2000);
	CHECK_STR(lookup.name, "last");
	CHECK_INT(dprintf(fd, "1008 4 other\n1000 8 new\n"), 24);
	work = MUCH_WORK;
	CHECK_INT(jit_map__find(&list, fd, &lookup, 1, &names, &work), 0);
	CHECK(MUCH_WORK - work < 2000);
	CHECK_STR(lookup.name, "new");
	arena__release(&names);
}

static void maps_too_large_to_be_kept(void)
{
	static const char line[] = "1000 1 a\n";
	CLEANUP_LIST struct jit_index_list list = {0};
	size_t lines = JIT_INDEX_ENTRIES_MAX + 1, size = lines * strlen(line);
	CLEANUP_FREE char *text = malloc(size + 1);
	CLEANUP_CLOSE int fd = -1;

	for (size_t i = 0; i < lines; i++)
		memcpy(text + i * strlen(line), line, strlen(line));
	fd = open_bytes(text, size);
	for (int i = 0; i < 3; i++)
		check_kept(&list, fd);
	CHECK_INT(list.entries, 0);
	/* Written anew, it is small. */
	CHECK_INT(ftruncate(fd, 0), 0);
	CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
	CHECK_INT(dprintf(fd, "1043 1 b\n"), 9);
	check_kept(&list, fd);
}

static void more_maps_than_are_kept(void)
{
	CLEANUP_LIST struct jit_index_list list = {0};
	int fds[JIT_INDEX_FILES + 4];

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = open_text("");
		append_lines(fds[i], 50);
	}
	for (int round = 0; round < 4; round++)
		for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
			check_kept(&list, fds[i]);
			check_kept(&list, fds[i]);
		}
	CHECK(list.entries <= JIT_INDEX_FILES * (size_t)50);
	CHECK(list.entries > JIT_INDEX_FILES * (size_t)30);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
}

/* As python3 -X perf and perf-map-agent write them. */
static void names_of_other_languages(void)
{
	static const char map[] = "7f00 b py::Server.serve:/srv/app.py\n"
				  "8f00 b py::<module>:<string>\n"
				  "9f00 40 Ljava/lang/String;::hashCode\n"
				  "af00 40 LMain;::main([Ljava/lang/String;)V\n";

	CHECK_STR(name_at(map, 0x7f05), "py::Server.serve:/srv/app.py");
	CHECK_STR(name_at(map, 0x8f0a), "py::<module>:<string>");
	CHECK_STR(name_at(map, 0x9f00), "Ljava/lang/String;::hashCode");
	CHECK_STR(name_at(map, 0xaf3f), "LMain;::main([Ljava/lang/String;)V");
}

/* ---- work ---- */

/* The rest of so much work, and the name that was found with it. */
static uint64_t work_left(int fd, uint64_t work, const char **name)
{
	static struct arena names;
	struct jit_lookup lookup = {.address = 0x1000};

	arena__release(&names);
	names = (struct arena){0};
	CHECK_INT(jit_map__find(NULL, fd, &lookup, 1, &names, &work), 0);
	*name = lookup.name;
	return work;
}

static void work_comes_out_of_a_budget(void)
{
	CLEANUP_CLOSE int fd = open_text("1000 10 a\n");
	CLEANUP_FREE char *large = make_long_line(20 * BLOCK);
	CLEANUP_CLOSE int large_fd = open_text(large);
	const char *name;
	uint64_t left;

	CHECK_INT(work_left(fd, 0, &name), 0);
	CHECK_STR(name, NULL);
	left = work_left(fd, 1000, &name);
	CHECK_STR(name, "a");
	CHECK(left < 1000 && left > 900);
	/* Reading alone is work, too, of 1 for some 24 bytes. */
	left = work_left(large_fd, MUCH_WORK, &name);
	CHECK(MUCH_WORK - left >= 20 * BLOCK / 32);
	CHECK(MUCH_WORK - left < 20 * BLOCK);
	CHECK_INT(work_left(large_fd, 20 * BLOCK / 64, &name), 0);
}

/* Each line holds all lookups. */
static void lines_that_all_overlap(void)
{
	const size_t nr = 20000;
	CLEANUP_FREE struct jit_lookup *lookups = calloc(nr, sizeof(*lookups));
	CLEANUP_FREE char *map = malloc(nr * 16);
	CLEANUP(arena__release) struct arena names = {0};
	CLEANUP_CLOSE int fd = -1;
	uint64_t work = MUCH_WORK;
	double start, seconds;

	for (size_t i = 0; i < nr; i++) {
		lookups[i].address = 0x1000 + i;
		sprintf(map + 12 * i, "0 fffff %03zu\n", i % 1000);
	}
	fd = open_bytes(map, 12 * nr);
	start = tap_cpu_seconds();
	CHECK_INT(jit_map__find(NULL, fd, lookups, nr, &names, &work), 0);
	CHECK_INT(work, 0);
	seconds = tap_cpu_seconds() - start;
	tap_check(seconds < SECONDS_LATE, __FILE__, __LINE__, "it took %.1f seconds", seconds);
	/* There is no work left to fetch names with. */
	CHECK_STR(lookups[0].name, NULL);
}

static const struct tap_test tests[] = {
	{"numbers are hexadecimal, with and without 0x", numbers_with_and_without_0x},
	{"a name is the rest of its line, spaces and all", names_are_the_rest_of_the_line},
	{"lines of another form are passed over", lines_that_are_none},
	{"a size of 0 holds no address", sizes_of_nothing},
	{"sizes up to and beyond the last address", sizes_up_to_the_end},
	{"of lines that overlap the later one wins", later_lines_win},
	{"a name ends at a NUL, and is none if that comes first", names_with_nul},
	{"a last line without its end is not used yet", last_line_without_its_end},
	{"an empty map gives no names", nothing_in_it},
	{"lookups in one call find what each would find alone", many_lookups},
	{"what is not found has no name, whatever it had before", old_answers_are_removed},
	{"a map that cannot be read gives no names", maps_that_cannot_be_read},
	{"a map that has grown, or shrunk, is read as it is now", maps_that_grow},
	{"lines that end around the end of a block", lines_across_blocks},
	{"names are cut at 1,024 bytes", long_names_are_cut},
	{"a line that is longer than a block is passed over", lines_longer_than_a_block},
	{"so is what is left of it behind the first block", end_of_a_longer_line},
	{"binary garbage", garbage},
	{"a sparse map of a terabyte costs seconds at most", sparse_map_of_a_terabyte},
	{"work comes out of a budget, and ends with it", work_comes_out_of_a_budget},
	{"lines that all overlap cost seconds at most", lines_that_all_overlap},
	{"kept maps that grow, are cut, or written anew", kept_maps_that_change},
	{"kept maps are not read again", kept_maps_are_not_read_again},
	{"maps too large to be kept", maps_too_large_to_be_kept},
	{"more maps than are kept", more_maps_than_are_kept},
	{"names as Python and Java agents write them", names_of_other_languages},
};

int main(void)
{
	return TAP_RUN(tests);
}
