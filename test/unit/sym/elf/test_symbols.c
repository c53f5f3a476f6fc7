// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/elf/file.h"
#include "sym/elf/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/elf_image.h"
#include "test/unit/open_bytes.h"
#include "test/unit/tap.h"

#define TEXT IMAGE_TEXT_ADDRESS

/* A file in memory with these bytes, or -1. */
static int open_image(const struct elf_image *image)
{
	return open_bytes(image->bytes, image->size);
}

/* The result of elf_file__open() for these bytes. */
static int open_result(const void *bytes, size_t size)
{
	CLEANUP_CLOSE int fd = open_bytes(bytes, size);
	struct elf_file elf;
	int err = elf_file__open(&elf, fd);

	if (!err)
		elf_file__close(&elf);
	return err;
}

static int open_spoilt(const struct elf_image *image)
{
	return open_result(image->bytes, image->size);
}

/* The name of an address and, if wanted, where its function starts; NULL without one. */
static const char *name_and_start(const struct elf_image *image, uint64_t address, uint64_t *start)
{
	static char name[256];
	CLEANUP_CLOSE int fd = open_image(image);
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	CLEANUP(arena__release) struct arena names = {0};
	struct elf_lookup lookup = {.address = address};

	if (!CHECK_INT(elf_file__open(&elf, fd), 0) ||
	    !CHECK_INT(elf_symbols__find(&elf, &lookup, 1, &names, &(uint64_t){ELF_SYMBOLS_WORK}),
		       0) ||
	    !lookup.name)
		return NULL;
	if (start)
		*start = lookup.start;
	snprintf(name, sizeof(name), "%s", lookup.name);
	return name;
}

static const char *name_at(const struct elf_image *image, uint64_t address)
{
	return name_and_start(image, address, NULL);
}

/* An image with one .symtab. */
static struct elf_image make_image(const struct image_symbol *symbols, size_t nr, bool is_32bit)
{
	struct image_spec spec = {.is_32bit = is_32bit, .tables = {{SHT_SYMTAB, symbols, nr}}};

	return elf_image__make(&spec);
}

#define CLEANUP_IMAGE CLEANUP(elf_image__free)

static void check_sizes(bool is_32bit)
{
	const struct image_symbol symbols[] = {
		{"later", TEXT + 0x40, 0x10, GLOBAL_FUNCTION, 0},
		{"early", TEXT, 0x10, GLOBAL_FUNCTION, 0},
	};
	CLEANUP_IMAGE
	struct elf_image image = make_image(symbols, ARRAY_SIZE(symbols), is_32bit);
	uint64_t start = 0;

	CHECK_STR(name_at(&image, TEXT - 1), NULL);
	CHECK_STR(name_at(&image, TEXT), "early");
	CHECK_STR(name_at(&image, TEXT + 0xf), "early");
	CHECK_STR(name_at(&image, TEXT + 0x10), NULL);
	CHECK_STR(name_at(&image, TEXT + 0x3f), NULL);
	CHECK_STR(name_and_start(&image, TEXT + 0x4f, &start), "later");
	CHECK_INT(start, TEXT + 0x40);
	CHECK_STR(name_at(&image, TEXT + 0x50), NULL);
	CHECK_STR(name_at(&image, 0), NULL);
	CHECK_STR(name_at(&image, UINT64_MAX), NULL);
}

static void sizes_are_honoured(void)
{
	check_sizes(false);
}

static void sizes_are_honoured_in_32_bits(void)
{
	check_sizes(true);
}

static void offsets_become_addresses(void)
{
	CLEANUP_IMAGE
	struct elf_image image = make_image(NULL, 0, false);
	CLEANUP_CLOSE int fd = open_image(&image);
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	uint64_t address = 7;

	CHECK_INT(elf_file__open(&elf, fd), 0);
	CHECK(!elf_file__address(&elf, IMAGE_TEXT_OFFSET - 1, &address));
	CHECK(!elf_file__address(&elf, IMAGE_TEXT_OFFSET + IMAGE_TEXT_SIZE, &address));
	CHECK_INT(address, 7);
	CHECK(elf_file__address(&elf, IMAGE_TEXT_OFFSET, &address));
	CHECK_INT(address, TEXT);
	CHECK(elf_file__address(&elf, IMAGE_TEXT_OFFSET + IMAGE_TEXT_SIZE - 1, &address));
	CHECK_INT(address, TEXT + IMAGE_TEXT_SIZE - 1);
}

/* The name that wins, in whichever order the table has the three of them. */
static void check_winner(const struct image_symbol three[3], const char *winner)
{
	static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					{1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		const int *order = orders[i];
		const struct image_symbol symbols[] = {three[order[0]], three[order[1]],
						       three[order[2]]};
		CLEANUP_IMAGE
		struct elf_image image = make_image(symbols, ARRAY_SIZE(symbols), false);

		CHECK_STR(name_at(&image, TEXT + 4), winner);
	}
}

static void global_beats_weak_beats_local(void)
{
	const struct image_symbol all[] = {{"a_local", TEXT, 8, LOCAL_FUNCTION, 0},
					   {"b_weak", TEXT, 8, WEAK_FUNCTION, 0},
					   {"__c_global", TEXT, 8, GLOBAL_FUNCTION, 0}};
	const struct image_symbol two[] = {{"a_local", TEXT, 8, LOCAL_FUNCTION, 0},
					   {"b_local", TEXT, 8, LOCAL_FUNCTION, 0},
					   {"__c_weak", TEXT, 8, WEAK_FUNCTION, 0}};
	const unsigned char unique = ELF64_ST_INFO(STB_GNU_UNIQUE, STT_FUNC);
	const struct image_symbol one[] = {{"weak", TEXT, 8, WEAK_FUNCTION, 0},
					   {"local", TEXT, 8, LOCAL_FUNCTION, 0},
					   {"unique", TEXT, 8, unique, 0}};

	check_winner(all, "__c_global");
	check_winner(two, "__c_weak");
	check_winner(one, "unique");
}

static void fewest_underscores_win(void)
{
	const struct image_symbol libc[] = {{"__libc_malloc", TEXT, 8, GLOBAL_FUNCTION, 0},
					    {"malloc", TEXT, 8, GLOBAL_FUNCTION, 0},
					    {"_malloc", TEXT, 8, GLOBAL_FUNCTION, 0}};
	const struct image_symbol equal[] = {{"_b", TEXT, 8, GLOBAL_FUNCTION, 0},
					     {"_a", TEXT, 8, GLOBAL_FUNCTION, 0},
					     {"_aa", TEXT, 8, GLOBAL_FUNCTION, 0}};
	const struct image_symbol inner[] = {{"___", TEXT, 8, WEAK_FUNCTION, 0},
					     {"a__b__c__d", TEXT, 8, WEAK_FUNCTION, 0},
					     {"_a", TEXT, 8, WEAK_FUNCTION, 0}};

	check_winner(libc, "malloc");
	check_winner(equal, "_a");
	check_winner(inner, "a__b__c__d");
}

static void no_size_ends_at_the_next_symbol(void)
{
	const struct image_symbol symbols[] = {
		{"third", TEXT + 0x80, 0, LOCAL_FUNCTION, 0},
		{"first", TEXT + 0x10, 0, GLOBAL_FUNCTION, 0},
		{"second", TEXT + 0x40, 0x10, GLOBAL_FUNCTION, 0},
	};
	CLEANUP_IMAGE
	struct elf_image image = make_image(symbols, ARRAY_SIZE(symbols), false);

	CHECK_STR(name_at(&image, TEXT + 0xf), NULL);
	CHECK_STR(name_at(&image, TEXT + 0x10), "first");
	CHECK_STR(name_at(&image, TEXT + 0x3f), "first");
	CHECK_STR(name_at(&image, TEXT + 0x4f), "second");
	CHECK_STR(name_at(&image, TEXT + 0x50), NULL);
	CHECK_STR(name_at(&image, TEXT + 0x80), "third");
}

static void no_size_ends_with_its_section(void)
{
	const struct image_symbol symbols[] = {
		{"last", TEXT + 0x10, 0, GLOBAL_FUNCTION, 0},
		{"absolute", TEXT + 2 * IMAGE_TEXT_SIZE, 0, GLOBAL_FUNCTION, SHN_ABS},
	};
	CLEANUP_IMAGE
	struct elf_image image = make_image(symbols, ARRAY_SIZE(symbols), false);

	CHECK_STR(name_at(&image, TEXT + IMAGE_TEXT_SIZE - 1), "last");
	CHECK_STR(name_at(&image, TEXT + IMAGE_TEXT_SIZE), NULL);
	CHECK_STR(name_at(&image, TEXT + 2 * IMAGE_TEXT_SIZE), NULL);
}

/* All lookups in one call: they must not depend on each other. */
static void lookups_do_not_disturb_each_other(void)
{
	const struct image_symbol symbols[] = {
		{"sized", TEXT, 0x10, GLOBAL_FUNCTION, 0},
		{"open", TEXT + 0x40, 0, GLOBAL_FUNCTION, 0},
		{"outer", TEXT + 0x80, 0x40, GLOBAL_FUNCTION, 0},
		{"inner", TEXT + 0x90, 0x10, GLOBAL_FUNCTION, 0},
	};
	CLEANUP_IMAGE
	struct elf_image image = make_image(symbols, ARRAY_SIZE(symbols), false);
	CLEANUP_CLOSE int fd = open_image(&image);
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	CLEANUP(arena__release) struct arena names = {0};
	struct elf_lookup lookups[0x100];

	for (size_t i = 0; i < ARRAY_SIZE(lookups); i++)
		lookups[i] = (struct elf_lookup){.address = TEXT + i};
	CHECK_INT(elf_file__open(&elf, fd), 0);
	CHECK_INT(elf_symbols__find(&elf, lookups, ARRAY_SIZE(lookups), &names,
				    &(uint64_t){ELF_SYMBOLS_WORK}),
		  0);
	for (size_t i = 0; i < ARRAY_SIZE(lookups); i++)
		if (!CHECK_STR(lookups[i].name, name_at(&image, TEXT + i)))
			break;
	CHECK_INT(elf_symbols__find(&elf, lookups, 0, &names, &(uint64_t){ELF_SYMBOLS_WORK}), 0);
}

static void innermost_wins(void)
{
	const struct image_symbol symbols[] = {
		{"inner", TEXT + 0x10, 0x10, LOCAL_FUNCTION, 0},
		{"outer", TEXT, 0x40, GLOBAL_FUNCTION, 0},
		{"across", TEXT + 0x30, 0x20, WEAK_FUNCTION, 0},
	};
	CLEANUP_IMAGE
	struct elf_image image = make_image(symbols, ARRAY_SIZE(symbols), false);

	CHECK_STR(name_at(&image, TEXT + 0xf), "outer");
	CHECK_STR(name_at(&image, TEXT + 0x10), "inner");
	CHECK_STR(name_at(&image, TEXT + 0x20), "outer");
	CHECK_STR(name_at(&image, TEXT + 0x30), "across");
	CHECK_STR(name_at(&image, TEXT + 0x4f), "across");
	CHECK_STR(name_at(&image, TEXT + 0x50), NULL);
}

static void only_defined_functions_count(void)
{
	const struct image_symbol symbols[] = {
		{"object", TEXT, 8, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0},
		{"notype", TEXT, 8, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0},
		{"tls", TEXT, 8, ELF64_ST_INFO(STB_GLOBAL, STT_TLS), 0},
		{"", TEXT, 8, GLOBAL_FUNCTION, 0},
		{"local", TEXT, 8, LOCAL_FUNCTION, 0},
		{"ifunc", TEXT + 8, 8, ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC), 0},
	};
	CLEANUP_IMAGE
	struct elf_image image = make_image(symbols, ARRAY_SIZE(symbols), false);
	Elf64_Sym *table;

	CHECK_STR(name_at(&image, TEXT + 8), "ifunc");
	table = (Elf64_Sym *)(image.bytes +
			      elf_image__shdr(&image, IMAGE_TABLE_SECTION(0))->sh_offset);
	table[4].st_name = 0;
	CHECK_STR(name_at(&image, TEXT), "local");
	table[5].st_shndx = SHN_UNDEF;
	table[2].st_shndx = SHN_UNDEF;
	CHECK_STR(name_at(&image, TEXT), NULL);
}

#define LABEL ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE)

/* Labels name what no function covers, but those within a function do not go on behind it. */
static void labels_are_the_last_resort(void)
{
	const struct image_symbol symbols[] = {
		{"loop", TEXT + 0x18, 0, LABEL, 0},
		{"function", TEXT + 0x10, 0x10, LOCAL_FUNCTION, 0},
		{"assembly", TEXT + 0x40, 0, LABEL, 0},
		{"$x", TEXT + 0x48, 0, LABEL, 0},
		{"$x", TEXT + 0x40, 0, LABEL, 0},
		{"sized", TEXT + 0x80, 4, LABEL, 0},
		{"open", TEXT + 0xc0, 0, GLOBAL_FUNCTION, 0},
		{"inner", TEXT + 0xd0, 0, LABEL, 0},
		{"data", TEXT + 0xe0, 0, LABEL, SHN_ABS},
	};
	CLEANUP_IMAGE
	struct elf_image image = make_image(symbols, ARRAY_SIZE(symbols), false);

	CHECK_STR(name_at(&image, TEXT), NULL);
	CHECK_STR(name_at(&image, TEXT + 0x1c), "function");
	CHECK_STR(name_at(&image, TEXT + 0x30), NULL);
	CHECK_STR(name_at(&image, TEXT + 0x40), "assembly");
	CHECK_STR(name_at(&image, TEXT + 0x7f), "assembly");
	CHECK_STR(name_at(&image, TEXT + 0x90), "sized");
	CHECK_STR(name_at(&image, TEXT + 0xc8), "open");
	CHECK_STR(name_at(&image, TEXT + 0xe8), "inner");
	CHECK_STR(name_at(&image, TEXT + IMAGE_TEXT_SIZE), NULL);
}

/* As of libc: cfree is free for programs that were linked long ago. */
static void old_versions_are_for_old_programs(void)
{
	static const struct image_symbol symbols[] = {{"cfree", TEXT, 8, GLOBAL_FUNCTION, 0},
						      {"free", TEXT, 8, GLOBAL_FUNCTION, 0},
						      {"weak", TEXT + 8, 8, WEAK_FUNCTION, 0},
						      {"old", TEXT + 8, 8, GLOBAL_FUNCTION, 0},
						      {"alone", TEXT + 16, 8, GLOBAL_FUNCTION, 0}};
	static const struct image_symbol suffixed[] = {
		{"cfree@V_1", TEXT, 8, GLOBAL_FUNCTION, 0},
		{"free", TEXT, 8, GLOBAL_FUNCTION, 0},
	};
	const uint16_t versions[] = {0, 0x8002, 2, 2, 0x8002, 0x8002};
	const struct image_spec spec = {
		.tables = {{SHT_DYNSYM, symbols, ARRAY_SIZE(symbols)}},
		.notes = versions,
		.notes_size = sizeof(versions),
	};
	CLEANUP_IMAGE
	struct elf_image image = elf_image__make(&spec);
	CLEANUP_IMAGE
	struct elf_image other = make_image(suffixed, ARRAY_SIZE(suffixed), false);
	size_t section = 0;

	CHECK_STR(name_at(&image, TEXT), "cfree");
	while (elf_image__shdr(&image, section)->sh_type != SHT_NOTE)
		section++;
	elf_image__shdr(&image, section)->sh_type = SHT_GNU_versym;
	elf_image__shdr(&image, section)->sh_link = IMAGE_TABLE_SECTION(0);
	CHECK_STR(name_at(&image, TEXT), "free");
	CHECK_STR(name_at(&image, TEXT + 8), "weak");
	CHECK_STR(name_at(&image, TEXT + 16), "alone");
	/* Cut short: what is not there hides nothing. */
	elf_image__shdr(&image, section)->sh_offset = image.size - 6;
	CHECK(name_at(&image, TEXT) != NULL);
	elf_image__shdr(&image, section)->sh_offset = UINT64_MAX - 1;
	CHECK_STR(name_at(&image, TEXT), "cfree");
	CHECK_STR(name_at(&other, TEXT), "free");
}

static const struct image_symbol full_symbols[] = {{"full", TEXT, 8, GLOBAL_FUNCTION, 0}};
static const struct image_symbol dynamic_symbols[] = {{"dynamic", TEXT + 8, 8, GLOBAL_FUNCTION, 0}};

static const struct image_spec dynamic_first = {
	.tables = {{SHT_DYNSYM, dynamic_symbols, 1}, {SHT_SYMTAB, full_symbols, 1}}};
static const struct image_spec full_first = {
	.tables = {{SHT_SYMTAB, full_symbols, 1}, {SHT_DYNSYM, dynamic_symbols, 1}}};

static void both_tables_serve(void)
{
	CLEANUP_IMAGE
	struct elf_image one = elf_image__make(&dynamic_first);
	CLEANUP_IMAGE
	struct elf_image other = elf_image__make(&full_first);

	CHECK_STR(name_at(&one, TEXT), "full");
	CHECK_STR(name_at(&one, TEXT + 8), "dynamic");
	CHECK_STR(name_at(&other, TEXT), "full");
	CHECK_STR(name_at(&other, TEXT + 8), "dynamic");
}

static void dynsym_serves_alone(void)
{
	const struct image_spec spec = {.tables = {{SHT_DYNSYM, dynamic_symbols, 1}}};
	CLEANUP_IMAGE
	struct elf_image image = elf_image__make(&spec);

	CHECK_STR(name_at(&image, TEXT + 8), "dynamic");
}

static void unusable_symtab_leaves_dynsym(void)
{
	CLEANUP_IMAGE
	struct elf_image behind = elf_image__make(&dynamic_first);
	CLEANUP_IMAGE
	struct elf_image before = elf_image__make(&full_first);

	elf_image__shdr(&behind, IMAGE_TABLE_SECTION(1))->sh_link = IMAGE_TEXT_SECTION;
	elf_image__shdr(&before, IMAGE_TABLE_SECTION(0))->sh_link = IMAGE_TEXT_SECTION;
	CHECK_STR(name_at(&before, TEXT + 8), "dynamic");
	CHECK_STR(name_at(&behind, TEXT + 8), "dynamic");
}

static void no_table_means_no_names(void)
{
	const struct image_spec spec = {0};
	CLEANUP_IMAGE
	struct elf_image none = elf_image__make(&spec);
	CLEANUP_IMAGE
	struct elf_image empty = make_image(NULL, 0, false);

	CHECK_STR(name_at(&none, TEXT), NULL);
	CHECK_STR(name_at(&empty, TEXT), NULL);
	elf_image__ehdr(&none)->e_shnum = 0;
	elf_image__ehdr(&none)->e_shoff = 0;
	CHECK_STR(name_at(&none, TEXT), NULL);
}

static void what_is_no_elf_file_is_refused(void)
{
	CLEANUP_IMAGE
	struct elf_image image = make_image(full_symbols, 1, false);
	const char script[] = "#!/bin/sh\nexec true, and more than the 64 bytes of a header\n";

	CHECK_INT(open_result("", 0), -ENOEXEC);
	CHECK_INT(open_result(script, sizeof(script)), -ENOEXEC);
	CHECK_INT(open_result(image.bytes, SELFMAG), -ENOEXEC);
	image.bytes[EI_DATA] = ELFDATA2MSB + ELFDATA2LSB - image.bytes[EI_DATA];
	CHECK_INT(open_spoilt(&image), -ENOEXEC);
	image.bytes[EI_DATA] = ELFDATANONE;
	CHECK_INT(open_spoilt(&image), -ENOEXEC);
}

static void failure_leaves_the_result_alone(void)
{
	CLEANUP_CLOSE int fd = open_bytes("x", 1);
	struct elf_file elf = {.fd = 77};

	CHECK_INT(elf_file__open(&elf, fd), -ENOEXEC);
	CHECK_INT(elf.fd, 77);
}

/* Any result will do; addresses all over are asked for. */
static void survive(const unsigned char *bytes, size_t size)
{
	CLEANUP_CLOSE int fd = open_bytes(bytes, size);
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	CLEANUP(arena__release) struct arena names = {0};
	struct elf_lookup lookups[] = {
		{.address = 0},		{.address = TEXT - 1},	 {.address = TEXT},
		{.address = TEXT + 4},	{.address = TEXT + 4},	 {.address = TEXT + 0x18},
		{.address = 1UL << 40}, {.address = UINT64_MAX},
	};
	uint64_t address;

	if (elf_file__open(&elf, fd))
		return;
	elf_file__address(&elf, IMAGE_TEXT_OFFSET, &address);
	CHECK_INT(elf_symbols__find(&elf, lookups, ARRAY_SIZE(lookups), &names,
				    &(uint64_t){ELF_SYMBOLS_WORK}),
		  0);
}

static size_t count_sections(const struct elf_image *image)
{
	CLEANUP_CLOSE int fd = open_image(image);
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};

	CHECK_INT(elf_file__open(&elf, fd), 0);
	return elf.nr_sections;
}

/* There are as many as the file has, and none if the first is not of the kind that may count. */
static void wrong_section_counts_are_survived(void)
{
	CLEANUP_IMAGE
	struct elf_image image = make_image(full_symbols, 1, false);

	elf_image__ehdr(&image)->e_shnum = 0;
	elf_image__shdr(&image, 0)->sh_size = UINT64_MAX / 64;
	CHECK_INT(count_sections(&image), IMAGE_TABLE_SECTION(1));
	elf_image__ehdr(&image)->e_shstrndx = SHN_XINDEX;
	elf_image__shdr(&image, 0)->sh_link = UINT32_MAX;
	CHECK_INT(count_sections(&image), IMAGE_TABLE_SECTION(1));
	elf_image__shdr(&image, 0)->sh_type = SHT_PROGBITS;
	CHECK_INT(count_sections(&image), 0);
	elf_image__shdr(&image, 0)->sh_type = SHT_NULL;
	elf_image__shdr(&image, 0)->sh_size = 0;
	CHECK_INT(count_sections(&image), 0);
}

/* More than e_shnum and st_shndx have room for are told elsewhere. */
static void many_sections(void)
{
	static const struct image_symbol symbols[] = {
		{"absolute", TEXT + 0x10, 0, LOCAL_FUNCTION, SHN_ABS},
		{"sized", TEXT + 0x40, 0x10, GLOBAL_FUNCTION, 0},
		{"label", TEXT + 0x80, 0, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), 0},
	};
	static const size_t numbers[] = {0, 1, 4096, 5000, 65200, SHN_LORESERVE, 70000, 100000};
	static const uint64_t notes = 0;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(numbers); i++) {
		const struct image_spec spec = {.is_32bit = i & 1,
						.tables = {{SHT_SYMTAB, symbols, 3}},
						.notes = &notes,
						.notes_size = sizeof(notes),
						.stapsdt_base = 0x5000,
						.nr_before = numbers[i / 2]};
		CLEANUP_IMAGE struct elf_image image = elf_image__make(&spec);
		CLEANUP_CLOSE int fd = open_image(&image);
		CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
		const struct elf_section *base;

		CHECK_STR(name_at(&image, TEXT + 0x48), "sized");
		CHECK_STR(name_at(&image, TEXT + 0x100), "label");
		/* It is in no section, as far as a number tells. */
		CHECK_STR(name_at(&image, TEXT + 0x18), NULL);
		CHECK_INT(elf_file__open(&elf, fd), 0);
		base = elf_file__find_section(&elf, ".stapsdt.base", true);
		if (CHECK(base != NULL))
			CHECK_INT(base->address, 0x5000);
	}
}

/* Those that have no room are left out, but the file is read. */
static void too_many_sections(void)
{
	static const struct image_symbol symbol = {"sized", TEXT, 0x10, GLOBAL_FUNCTION, 0};
	const struct image_spec spec = {.tables = {{SHT_SYMTAB, &symbol, 1}}, .nr_before = 1 << 18};
	CLEANUP_IMAGE struct elf_image image = elf_image__make(&spec);

	CHECK_INT(count_sections(&image), 1 << 17);
	CHECK_STR(name_at(&image, TEXT), NULL);
}

static void hidden_segment_count_is_survived(void)
{
	CLEANUP_IMAGE
	struct elf_image image = make_image(full_symbols, 1, false);

	elf_image__ehdr(&image)->e_phnum = PN_XNUM;
	elf_image__shdr(&image, 0)->sh_info = UINT32_MAX;
	survive(image.bytes, image.size);
}

static void too_many_segments_are_refused(void)
{
	CLEANUP_IMAGE
	struct elf_image image = make_image(full_symbols, 1, false);
	size_t room = 2000 * sizeof(Elf64_Phdr);

	elf_image__ehdr(&image)->e_phnum = 2000;
	image.bytes = realloc(image.bytes, image.size + room);
	memset(image.bytes + image.size, 0, room);
	image.size += room;
	CHECK_INT(open_spoilt(&image), -ENOEXEC);
}

static const struct image_symbol mixed_symbols[] = {
	{"one", TEXT, 8, GLOBAL_FUNCTION, 0},
	{"_two", TEXT, 8, GLOBAL_FUNCTION, 0},
	{"three", TEXT + 0x10, 0, WEAK_FUNCTION, 0},
};

static struct elf_image make_mixed(bool is_32bit)
{
	const struct image_spec spec = {
		.is_32bit = is_32bit,
		.tables = {{SHT_DYNSYM, mixed_symbols, ARRAY_SIZE(mixed_symbols)},
			   {SHT_SYMTAB, mixed_symbols, ARRAY_SIZE(mixed_symbols)}},
	};

	return elf_image__make(&spec);
}

static void any_truncation_is_survived(void)
{
	for (int is_32bit = 0; is_32bit < 2; is_32bit++) {
		CLEANUP_IMAGE
		struct elf_image image = make_mixed(is_32bit);

		for (size_t size = 0; size <= image.size; size++) {
			unsigned char *exact = malloc(size + !size);

			memcpy(exact, image.bytes, size);
			survive(exact, size);
			free(exact);
		}
	}
}

static void any_spoilt_byte_is_survived(void)
{
	static const unsigned char values[] = {0x00, 0x80, 0xff};

	for (int is_32bit = 0; is_32bit < 2; is_32bit++) {
		CLEANUP_IMAGE
		struct elf_image image = make_mixed(is_32bit);

		for (size_t i = 0; i < image.size; i++) {
			unsigned char kept = image.bytes[i];

			for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
				image.bytes[i] = values[v];
				survive(image.bytes, image.size);
			}
			image.bytes[i] = kept;
		}
	}
}

static void file_may_shrink_after_it_was_opened(void)
{
	CLEANUP_IMAGE
	struct elf_image image = make_mixed(false);
	CLEANUP_CLOSE int fd = open_image(&image);
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	CLEANUP(arena__release) struct arena names = {0};

	CHECK_INT(elf_file__open(&elf, fd), 0);
	for (size_t size = image.size; size-- > 0;) {
		struct elf_lookup lookup = {.address = TEXT};

		if (!CHECK_INT(ftruncate(fd, (off_t)size), 0) ||
		    !CHECK_INT(elf_symbols__find(&elf, &lookup, 1, &names,
						 &(uint64_t){ELF_SYMBOLS_WORK}),
			       0))
			return;
	}
}

static void huge_numbers_in_section_headers(void)
{
	static const uint64_t sizes[] = {UINT64_MAX, INT64_MAX, 1ULL << 40, UINT32_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (size_t section = 0; section < 4; section++) {
			CLEANUP_IMAGE
			struct elf_image image = make_image(mixed_symbols, 3, false);

			elf_image__shdr(&image, section)->sh_size = sizes[i];
			survive(image.bytes, image.size);
			elf_image__shdr(&image, section)->sh_offset = sizes[i];
			survive(image.bytes, image.size);
			elf_image__shdr(&image, section)->sh_addr = sizes[i];
			elf_image__shdr(&image, section)->sh_link = (uint32_t)sizes[i];
			survive(image.bytes, image.size);
		}
	}
}

static void huge_numbers_in_symbols(void)
{
	CLEANUP_IMAGE
	struct elf_image image = make_image(mixed_symbols, 3, false);
	Elf64_Sym *table =
		(Elf64_Sym *)(image.bytes +
			      elf_image__shdr(&image, IMAGE_TABLE_SECTION(0))->sh_offset);

	table[1].st_name = UINT32_MAX;
	CHECK_STR(name_at(&image, TEXT), "_two");
	table[2].st_name = UINT32_MAX - 1;
	CHECK_STR(name_at(&image, TEXT), NULL);
	table[3].st_value = 1;
	table[3].st_size = UINT64_MAX;
	CHECK_STR(name_at(&image, TEXT + 0x100), "three");
	CHECK_STR(name_at(&image, UINT64_MAX), "three");
	CHECK_STR(name_at(&image, 0), NULL);
	table[3].st_value = UINT64_MAX - 1;
	CHECK_STR(name_at(&image, 0), NULL);
	CHECK_STR(name_at(&image, UINT64_MAX - 2), NULL);
	CHECK_STR(name_at(&image, UINT64_MAX), "three");
}

static void name_that_never_ends_is_bounded(void)
{
	const size_t length = 100000;
	CLEANUP_FREE char *name = malloc(length + 1);
	struct image_symbol symbol = {name, TEXT, 8, GLOBAL_FUNCTION, 0};
	struct elf_image image;

	memset(name, 'n', length);
	name[length] = '\0';
	image = make_image(&symbol, 1, false);
	CHECK_INT(strspn(name_at(&image, TEXT), "n"), 255);
	/* No NUL at its end either: the last byte of the table is a letter. */
	elf_image__shdr(&image, IMAGE_TABLE_SECTION(0) + 1)->sh_size = 10;
	CHECK_STR(name_at(&image, TEXT), "nnnnnnnnn");
	elf_image__free(&image);
}

/* symbols that all hold all of lookups, looked up together: how long it takes, and that it is
 * bounded. */
static double time_lookups(const struct image_symbol *symbols, size_t nr_symbols, size_t nr_lookups)
{
	CLEANUP_IMAGE
	struct elf_image image = make_image(symbols, nr_symbols, false);
	CLEANUP_CLOSE int fd = open_image(&image);
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	CLEANUP(arena__release) struct arena names = {0};
	CLEANUP_FREE struct elf_lookup *lookups = calloc(nr_lookups, sizeof(*lookups));
	double start;

	for (size_t i = 0; i < nr_lookups; i++)
		lookups[i].address = TEXT + 1 + i;
	CHECK_INT(elf_file__open(&elf, fd), 0);
	start = tap_cpu_seconds();
	CHECK_INT(
		elf_symbols__find(&elf, lookups, nr_lookups, &names, &(uint64_t){ELF_SYMBOLS_WORK}),
		-EFBIG);
	return tap_cpu_seconds() - start;
}

#define MANY	     ((size_t)20000)
#define SECONDS_LATE 10 /* a second is promised; sanitizers and busy machines take their share */

/* Symbols that all hold all lookups; each begins so many bytes before the one ahead of it. */
static void check_time(uint64_t distance)
{
	struct image_symbol *symbols = calloc(MANY, sizeof(*symbols));
	char(*names)[16] = calloc(MANY, sizeof(*names));
	double seconds;

	for (size_t i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", MANY - i);
		symbols[i] = (struct image_symbol){names[i], TEXT - i * distance, 1 << 30,
						   GLOBAL_FUNCTION, 0};
	}
	seconds = time_lookups(symbols, MANY, MANY);
	tap_check(seconds < SECONDS_LATE, __FILE__, __LINE__, "it took %.1f seconds", seconds);
	free(symbols);
	free(names);
}

static void symbols_that_all_overlap_cost_seconds_at_most(void)
{
	check_time(0);
	check_time(1);
}

static void sparse_table_of_terabytes_costs_seconds_at_most(void)
{
	CLEANUP_IMAGE
	struct elf_image image = make_image(full_symbols, 1, false);
	CLEANUP_CLOSE int fd = -1;
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	CLEANUP(arena__release) struct arena names = {0};
	struct elf_lookup lookup = {.address = TEXT};
	double start, seconds;

	elf_image__shdr(&image, IMAGE_TABLE_SECTION(0))->sh_size = 1ULL << 40;
	fd = open_image(&image);
	CHECK_INT(ftruncate(fd, 1LL << 41), 0);
	CHECK_INT(elf_file__open(&elf, fd), 0);
	start = tap_cpu_seconds();
	CHECK_INT(elf_symbols__find(&elf, &lookup, 1, &names, &(uint64_t){ELF_SYMBOLS_WORK}), 0);
	CHECK_STR(lookup.name, "full");
	seconds = tap_cpu_seconds() - start;
	tap_check(seconds < SECONDS_LATE, __FILE__, __LINE__, "it took %.1f seconds", seconds);
}

static const struct tap_test tests[] = {
	{"an offset in a segment becomes an address, one outside does not",
	 offsets_become_addresses},
	{"a symbol names what its size covers, and nothing else", sizes_are_honoured},
	{"so it does in a 32-bit file", sizes_are_honoured_in_32_bits},
	{"of aliases a global one beats a weak one beats a local one",
	 global_beats_weak_beats_local},
	{"of equal aliases the one with fewest leading underscores wins, then the first in the "
	 "alphabet",
	 fewest_underscores_win},
	{"a symbol without a size goes on to the next symbol", no_size_ends_at_the_next_symbol},
	{"a symbol without a size ends with its section", no_size_ends_with_its_section},
	{"of nested and overlapping symbols the innermost wins", innermost_wins},
	{"lookups in one call find what each would find alone", lookups_do_not_disturb_each_other},
	{"only functions that are defined and have a name count", only_defined_functions_count},
	{"labels are the last resort", labels_are_the_last_resort},
	{"what old programs call a function comes last", old_versions_are_for_old_programs},
	{".symtab and .dynsym both serve, in whichever order", both_tables_serve},
	{".dynsym serves where there is no .symtab", dynsym_serves_alone},
	{".dynsym serves where .symtab cannot be used, in whichever order",
	 unusable_symtab_leaves_dynsym},
	{"a file without symbols gives no names", no_table_means_no_names},
	{"what is no ELF file of this machine is refused", what_is_no_elf_file_is_refused},
	{"a failure leaves the result untouched", failure_leaves_the_result_alone},
	{"a wrong number of sections is survived", wrong_section_counts_are_survived},
	{"more sections than the file header can tell", many_sections},
	{"more sections than are read", too_many_sections},
	{"a segment count outside the header is survived", hidden_segment_count_is_survived},
	{"more segments than any program has are refused", too_many_segments_are_refused},
	{"a file that is cut anywhere is survived", any_truncation_is_survived},
	{"a file with any byte spoilt is survived", any_spoilt_byte_is_survived},
	{"a file that shrinks after it was opened is survived",
	 file_may_shrink_after_it_was_opened},
	{"huge numbers in section headers are survived", huge_numbers_in_section_headers},
	{"huge numbers in symbols leave the others their names", huge_numbers_in_symbols},
	{"a name without an end is cut", name_that_never_ends_is_bounded},
	{"symbols that all overlap cost seconds at most",
	 symbols_that_all_overlap_cost_seconds_at_most},
	{"a sparse symbol table of a terabyte costs seconds at most",
	 sparse_table_of_terabytes_costs_seconds_at_most},
};

int main(void)
{
	return TAP_RUN(tests);
}
