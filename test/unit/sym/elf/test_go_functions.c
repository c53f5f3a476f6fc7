// SPDX-License-Identifier: GPL-2.0-or-later
/* FIXTURES: where the Go programs are that CMakeLists.txt has built, if Go is there. */
#include "sym/elf/go_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/elf/file.h"
#include "sym/elf/symbols.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/elf_image.h"
#include "test/unit/go_image.h"
#include "test/unit/opened_elf.h"
#include "test/unit/tap.h"

#ifndef FIXTURES
#define FIXTURES "."
#endif

static const struct go_function functions[] = {
	{.name = "internal/cpu.Initialize", .offset = 0},
	{.name = "main.(*thing).Sum", .offset = 0x20},
	{.name = "type..eq.main.pair", .offset = 0x28},
	{.name = "main.(*stack[...]).push", .offset = 0x100},
	{.name = "main.main.func1", .offset = 0x140},
};

static void find(struct opened *opened, struct elf_lookup *lookups, size_t nr)
{
	uint64_t work = ELF_SYMBOLS_WORK;

	CHECK_INT(go_functions__find(&opened->elf, lookups, nr, &opened->names, &work), 0);
}

static const char *name_at(struct opened *opened, uint64_t offset)
{
	struct elf_lookup lookup = {.address = GO_TEXT + offset};

	find(opened, &lookup, 1);
	return lookup.name;
}

/* All that is in functions is found in such an image, and nothing else. */
static void check_spec(const struct go_image_spec *spec)
{
	CLEANUP_OPENED
	struct opened opened = open_go_image(*spec);
	const uint64_t end = 0x180;
	struct elf_lookup lookups[0x190];
	size_t f = 0;

	for (size_t i = 0; i < ARRAY_SIZE(lookups); i++)
		lookups[i] = (struct elf_lookup){.address = GO_TEXT - 8 + i};
	find(&opened, lookups, ARRAY_SIZE(lookups));
	for (size_t i = 0; i < ARRAY_SIZE(lookups); i++) {
		uint64_t offset = lookups[i].address - GO_TEXT;

		if (offset >= end) {
			CHECK_STR(lookups[i].name, NULL);
			continue;
		}
		while (f + 1 < ARRAY_SIZE(functions) && functions[f + 1].offset <= offset)
			f++;
		CHECK_STR(lookups[i].name, functions[f].name);
		CHECK_INT(lookups[i].start, GO_TEXT + functions[f].offset);
		CHECK_STR(name_at(&opened, offset), functions[f].name);
	}
}

static struct go_image_spec spec_of(uint32_t magic)
{
	return (struct go_image_spec){
		.magic = magic, .functions = functions, .nr = ARRAY_SIZE(functions), .end = 0x180};
}

static void all_versions(void)
{
	static const uint32_t magics[] = {GO_2, GO_16, GO_18, GO_20};

	for (size_t i = 0; i < ARRAY_SIZE(magics); i++) {
		struct go_image_spec spec = spec_of(magics[i]);

		check_spec(&spec);
		spec.in_relro = true;
		check_spec(&spec);
	}
}

static void code_is_found(void)
{
	for (enum go_text text = GO_TEXT_IN_HEADER; text <= GO_TEXT_NOWHERE; text++) {
		struct go_image_spec spec = spec_of(GO_20);

		spec.text = text;
		check_spec(&spec);
	}
}

/* ---- many functions ---- */

#define MANY 1500

static struct go_function *make_many(char (*texts)[16])
{
	struct go_function *many = calloc(MANY, sizeof(*many));

	for (size_t i = 0; i < MANY; i++) {
		snprintf(texts[i], sizeof(texts[i]), "main.f%zu", i);
		many[i] = (struct go_function){.name = texts[i], .offset = 16 * i};
	}
	return many;
}

/* Names do not depend on the addresses that are asked for together. */
static void many_functions(void)
{
	static char texts[MANY][16];
	CLEANUP_FREE struct go_function *many = make_many(texts);
	CLEANUP_FREE struct elf_lookup *lookups = calloc(MANY, sizeof(*lookups));

	for (size_t nr = 1; nr <= MANY; nr += nr < 3 ? 1 : 499) {
		struct go_image_spec spec = {
			.magic = GO_20, .functions = many, .nr = nr, .end = 16 * nr};
		CLEANUP_OPENED
		struct opened opened = open_go_image(spec);

		for (size_t step = 1; step < MANY; step *= 3) {
			size_t n = 0;

			for (size_t i = 0; i < nr; i += step)
				lookups[n++] =
					(struct elf_lookup){.address = GO_TEXT + 16 * i + 15};
			find(&opened, lookups, n);
			for (size_t i = 0; i < n; i++)
				CHECK_STR(lookups[i].name, texts[i * step]);
		}
		CHECK_STR(name_at(&opened, 16 * nr), NULL);
	}
}

/* ---- what is not named ---- */

static void names_that_are_there_stay(void)
{
	CLEANUP_OPENED
	struct opened opened = open_go_image(spec_of(GO_20));
	struct elf_lookup lookups[] = {
		{.address = GO_TEXT + 1, .name = "named", .start = GO_TEXT + 1},
		{.address = GO_TEXT + 2},
		{.address = GO_TEXT + 3, .name = "too", .start = GO_TEXT + 3},
	};

	find(&opened, lookups, ARRAY_SIZE(lookups));
	CHECK_STR(lookups[0].name, "named");
	CHECK_INT(lookups[0].start, GO_TEXT + 1);
	CHECK_STR(lookups[1].name, "internal/cpu.Initialize");
	CHECK_INT(lookups[1].start, GO_TEXT);
	CHECK_STR(lookups[2].name, "too");
}

/* Data that only looks like a table, in a program of another language. */
static void other_programs_are_not_searched(void)
{
	struct go_image_spec spec = spec_of(GO_20);

	spec.in_relro = spec.unmarked = true;
	{
		CLEANUP_OPENED
		struct opened opened = open_go_image(spec);

		CHECK_STR(name_at(&opened, 0), NULL);
	}
}

/* ---- hostile files ---- */

/* With size bytes at that offset of the table changed: is a name still found for offset 0x100? */
static const char *name_when_spoilt(uint32_t magic, size_t at, uint64_t value, size_t size)
{
	static char kept[64];
	const struct go_image_spec spec = spec_of(magic);
	CLEANUP(elf_image__free) struct elf_image image = go_image__make(&spec);
	const char *name;

	memcpy(image.bytes + GO_TABLE_OFFSET + at, &value, size);
	{
		CLEANUP_OPENED
		struct opened opened = open_image(&image);

		name = name_at(&opened, 0x100);
		snprintf(kept, sizeof(kept), "%s", name ? name : "");
	}
	return name ? kept : NULL;
}

static void headers_that_lie(void)
{
	CHECK_STR(name_when_spoilt(GO_20, 0, GO_20, 4), functions[3].name);
	CHECK_STR(name_when_spoilt(GO_20, 0, 0xfffffff2, 4), NULL); /* no version that is known */
	CHECK_STR(name_when_spoilt(GO_20, 4, 1, 1), NULL);
	CHECK_STR(name_when_spoilt(GO_20, 6, 3, 1), NULL);
	CHECK_STR(name_when_spoilt(GO_20, 7, 4, 1), NULL); /* words of another class */
	CHECK_STR(name_when_spoilt(GO_20, 8, 0, 8), NULL); /* no functions */
	CHECK_STR(name_when_spoilt(GO_20, 8, UINT64_MAX, 8), NULL);
	CHECK_STR(name_when_spoilt(GO_20, 8, 1ULL << 61, 8), NULL);
	CHECK_STR(name_when_spoilt(GO_20, 32, UINT64_MAX, 8), NULL); /* the names */
	CHECK_STR(name_when_spoilt(GO_20, 32, 1 << 20, 8), NULL);
	CHECK_STR(name_when_spoilt(GO_20, 64, UINT64_MAX, 8), NULL); /* the functions */
	CHECK_STR(name_when_spoilt(GO_20, 64, 1 << 20, 8), NULL);
	CHECK_STR(name_when_spoilt(GO_2, 8, UINT64_MAX / 16, 8), NULL);
	CHECK_STR(name_when_spoilt(GO_16, 24, UINT64_MAX, 8), NULL);
	CHECK_STR(name_when_spoilt(GO_16, 56, UINT64_MAX - 7, 8), NULL);
}

static void cut_files(void)
{
	CLEANUP_OPENED
	struct opened opened = open_go_image(spec_of(GO_20));
	struct elf_lookup lookup = {.address = GO_TEXT};

	while (opened__cut(&opened)) {
		lookup.name = NULL;
		find(&opened, &lookup, 1);
	}
	CHECK_STR(lookup.name, NULL);
}

static void work_is_bounded(void)
{
	CLEANUP_OPENED
	struct opened opened = open_go_image(spec_of(GO_20));
	struct elf_lookup lookup = {.address = GO_TEXT};
	uint64_t work = 0, before;
	int err = 0;

	CHECK_INT(go_functions__find(&opened.elf, &lookup, 1, &opened.names, &work), -EFBIG);
	CHECK_STR(lookup.name, NULL);
	/* The work taken is never more than was given. */
	for (work = 1; work < 4096; work++) {
		before = work;
		lookup.name = NULL;
		err = go_functions__find(&opened.elf, &lookup, 1, &opened.names, &work);
		CHECK(work <= before);
		CHECK_INT(err, work ? 0 : -EFBIG);
		work = before;
	}
	CHECK_INT(err, 0);
	CHECK_STR(lookup.name, functions[0].name);
}

/* ---- real programs ---- */

struct real {
	struct elf_lookup *lookups;
	size_t nr, capacity;
};

static int take_symbol(void *context, const struct elf_symbol *symbol)
{
	struct real *real = context;
	const uint64_t offsets[] = {0, symbol->size / 3, symbol->size - 1};

	for (size_t i = 0; i < ARRAY_SIZE(offsets) && symbol->size; i++) {
		if (ARRAY_GROW(real->lookups, real->nr, real->capacity))
			return -ENOMEM;
		real->lookups[real->nr++] =
			(struct elf_lookup){.address = symbol->start + offsets[i]};
	}
	return 0;
}

static int compare_lookups(const void *a, const void *b)
{
	return COMPARE(((const struct elf_lookup *)a)->address,
		       ((const struct elf_lookup *)b)->address);
}

/*
 * The linker gives functions of one name different endings, which the table does not have; and the
 * table has "[...]" for the text in brackets.
 */
static bool is_same_name(const char *symbol, const char *name)
{
	const char *dots = strstr(name, "[...]");
	size_t length = dots ? (size_t)(dots - name) + 1 : strlen(name);
	const char *end = dots ? strrchr(symbol, ']') : NULL;

	if (strncmp(symbol, name, length) || (dots && !end))
		return false;
	return !strcmp(dots ? end : symbol + length, dots ? dots + 4 : "") ||
	       !strcmp(symbol + length, ".abi0") || !strcmp(symbol + length, ".abiinternal");
}

static void check_against_symbols(struct opened *opened, struct real *real)
{
	CLEANUP_FREE struct elf_lookup *symbols = NULL;
	uint64_t work = ELF_SYMBOLS_WORK;
	size_t named = 0, main_seen = 0;

	array__sort(real->lookups, real->nr, sizeof(*real->lookups), compare_lookups);
	symbols = calloc(real->nr + 1, sizeof(*symbols));
	memcpy(symbols, real->lookups, real->nr * sizeof(*symbols));
	CHECK_INT(elf_symbols__find(&opened->elf, symbols, real->nr, &opened->names, &work), 0);
	find(opened, real->lookups, real->nr);
	for (size_t i = 0; i < real->nr; i++) {
		/* Functions in C are not in Go's table. */
		if (!real->lookups[i].name)
			continue;
		named++;
		main_seen += !strncmp(real->lookups[i].name, "main.", 5);
		tap_check(is_same_name(symbols[i].name, real->lookups[i].name), __FILE__, __LINE__,
			  "%s is named %s", symbols[i].name, real->lookups[i].name);
		CHECK_INT(real->lookups[i].start, symbols[i].start);
	}
	/* A cgo program has some of C. */
	CHECK(named > real->nr / 10 * 9);
	CHECK(main_seen > 10);
}

static void check_fixture(const char *name)
{
	struct opened opened = {.elf = {.fd = -1}};
	const struct work all = work__share(&(uint64_t){ELF_SYMBOLS_WORK}, UINT64_MAX);
	struct real real = {0};
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", FIXTURES, name);
	opened.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (opened.fd < 0) {
		tap_skip("there is no Go to build a program with");
		return;
	}
	CHECK_INT(elf_file__open(&opened.elf, opened.fd), 0);
	CHECK_INT(elf_symbols__each_function(&opened.elf, &all, take_symbol, &real), 0);
	check_against_symbols(&opened, &real);
	free(real.lookups);
	opened__close(&opened);
}

static void real_program(void)
{
	check_fixture("go_program");
}

static void real_pie_with_c(void)
{
	check_fixture("go_pie");
}

static const struct tap_test tests[] = {
	{"all versions of the table, in any section", all_versions},
	{"where code begins, wherever that is said", code_is_found},
	{"many functions, whichever are asked for together", many_functions},
	{"names that are there stay", names_that_are_there_stay},
	{"programs of other languages are not searched", other_programs_are_not_searched},
	{"headers that lie", headers_that_lie},
	{"files that are cut short", cut_files},
	{"work is bounded", work_is_bounded},
	{"a Go program: as by its symbols", real_program},
	{"a Go program as a PIE that GNU ld has linked: as by its symbols", real_pie_with_c},
};

int main(void)
{
	return TAP_RUN(tests);
}
