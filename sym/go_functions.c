// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table begins with a header, a word being as long as an address:
 *
 *   u32 magic, two bytes of 0, u8 quantum of code, u8 size of a word
 *   word number of functions
 *   since 1.16: word number of files
 *   since 1.18: word address of the code (0 since 1.26: moduledata has it)
 *   since 1.16: words that tell where in the table these parts begin: the names,
 *     three more, and the functions
 *
 * The functions, in 1.2 right behind the header, are pairs, sorted: where one
 * begins, and where in this part its description is, which starts with the same and
 * an int32, where its name begins. Behind the last pair stands where that one ends.
 * Since 1.18 both are u32, and code is counted from where it begins. In 1.2 there
 * are no parts: all is counted from the header.
 */
#include "sym/go_functions.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/arena.h"
#include "core/util/array.h"
#include "core/util/cleanup.h"
#include "sym/elf_symbols.h"
#include "sym/file_window.h"
#include "sym/work.h"

#define MAGIC_2	 0xfffffffb
#define MAGIC_16 0xfffffffa
#define MAGIC_18 0xfffffff0
#define MAGIC_20 0xfffffff1

#define HEADER_BYTES 8 /* before its words */
#define HEADER_WORDS 8 /* at most */
#define TEXT_WORD    2
/* Of moduledata, where the address of the code is, in all versions that need it. */
#define MODULE_TEXT_WORD 22

/*
 * A unit of work is about a symbol or a relocation; a small read takes as long as so
 * many of them. One file may have the work of eight million.
 */
#define READ_COST 32
#define WORK_MAX  (8 * 1024 * 1024)

/* Functions that are read together: the last steps of a search are made in memory. */
#define BLOCK_FUNCTIONS 256

/* What may be searched for a header: more than the read-only data of the largest programs. */
#define SCAN_BYTES_MAX ((uint64_t)64 * 1024 * 1024)
#define HEADER_ALIGN   8

struct go_table {
	const struct elf_symbols *elf;
	struct work work;
	/* Sections: the table itself, or where it is among other things; moduledata; code. */
	const struct elf_section *whole, *relro, *module, *code;
	const struct elf_section *mark; /* that Go puts into what it makes */
	uint64_t address, offset, size; /* of the table; offset: in the file */
	size_t word;			/* 4 or 8 */
	uint32_t magic;
	size_t entry;	    /* bytes of each of a pair */
	uint64_t text;	    /* what is added to where functions begin */
	uint64_t functions; /* offsets in the table */
	uint64_t names;
	uint64_t nr;
};

/* The pairs from first on, as far as they have been read; nr of them, and the end of the last. */
struct go_block {
	uint64_t first, nr;
	unsigned char bytes[2 * sizeof(uint64_t) * (BLOCK_FUNCTIONS + 1)];
};

static uint64_t get_number(const void *bytes, size_t size)
{
	uint64_t wide;
	uint32_t narrow;

	if (size == sizeof(wide)) {
		memcpy(&wide, bytes, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, bytes, sizeof(narrow));
	return narrow;
}

/* size bytes at that offset of the table; false if it has not so many. */
static bool read_table(struct go_table *table, void *buffer, size_t size, uint64_t offset)
{
	work__charge(&table->work, READ_COST);
	return offset <= table->size && size <= table->size - offset &&
	       work__is_left(&table->work) &&
	       elf_symbols__read(table->elf, buffer, size, table->offset + offset) == size;
}

/* ---- where the table is ---- */

static bool is_magic(uint32_t magic)
{
	return magic == MAGIC_2 || magic == MAGIC_16 || magic == MAGIC_18 || magic == MAGIC_20;
}

static bool is_header(const struct elf_symbols *elf, const char *bytes)
{
	uint32_t magic = (uint32_t)get_number(bytes, sizeof(magic));
	unsigned char quantum = (unsigned char)bytes[6], word = (unsigned char)bytes[7];

	return is_magic(magic) && bytes[4] == 0 && bytes[5] == 0 &&
	       (quantum == 1 || quantum == 2 || quantum == 4) && word == (elf->is_64bit ? 8 : 4);
}

/* The sections that matter; NULL for those that are not there. */
static void find_sections(struct go_table *table)
{
	const struct {
		const char *name;
		const struct elf_section **section;
	} wanted[] = {
		{".gopclntab", &table->whole},	 {".data.rel.ro.gopclntab", &table->whole},
		{".data.rel.ro", &table->relro}, {".go.module", &table->module},
		{".text", &table->code},	 {".note.go.buildid", &table->mark},
		{".go.buildinfo", &table->mark},
	};
	char name[32];

	for (size_t i = 0; i < table->elf->nr_sections && work__is_left(&table->work); i++) {
		const struct elf_section *section = &table->elf->sections[i];

		if (section->type != SHT_PROGBITS && section->type != SHT_NOTE)
			continue;
		work__charge(&table->work, READ_COST);
		elf_symbols__section_name(table->elf, section, name, sizeof(name));
		for (size_t j = 0; j < ARRAY_SIZE(wanted); j++)
			if (!strcmp(name, wanted[j].name))
				*wanted[j].section = section;
	}
}

static void set_place(struct go_table *table, const struct elf_section *section, uint64_t offset)
{
	table->address = section->address + offset;
	table->offset = section->offset + offset;
	table->size = section->size - offset;
}

/* Where a header stands in a section; false if none does. */
static bool scan_section(struct go_table *table, const struct elf_section *section)
{
	CLEANUP_FREE struct file_window *window = calloc(1, sizeof(*window));
	uint64_t most = section->size < SCAN_BYTES_MAX ? section->size : SCAN_BYTES_MAX;

	if (!window)
		return false;
	window->elf = table->elf;
	window->work = &table->work;
	for (uint64_t at = 0; at < most && work__is_left(&table->work); at += HEADER_ALIGN) {
		size_t size;
		const char *bytes =
			file_window__at(window, section->offset + at, HEADER_BYTES, &size);

		if (size < HEADER_BYTES)
			break;
		if (is_header(table->elf, bytes)) {
			set_place(table, section, at);
			return true;
		}
	}
	return false;
}

/*
 * The table has a section, unless GNU ld has linked a PIE: then it is part of
 * .data.rel.ro. That is searched only in what Go says it has made.
 */
static bool find_table(struct go_table *table)
{
	find_sections(table);
	if (table->whole)
		set_place(table, table->whole, 0);
	return table->whole || (table->mark && table->relro && scan_section(table, table->relro));
}

/* ---- its header ---- */

/* What a relocation writes at address that holds no symbol, but an address of the file. */
static uint64_t relocated(struct go_table *table, uint64_t address)
{
	const struct elf_symbols *elf = table->elf;
	Elf64_Rela block[128];

	for (size_t i = 0; i < elf->nr_sections && elf->is_64bit; i++) {
		const struct elf_section *section = &elf->sections[i];
		uint64_t left = section->size / sizeof(block[0]), offset = section->offset;

		if (section->type != SHT_RELA)
			continue;
		while (left && work__is_left(&table->work)) {
			size_t nr = left < ARRAY_SIZE(block) ? left : ARRAY_SIZE(block);

			nr = elf_symbols__read(elf, block, nr * sizeof(block[0]), offset) /
			     sizeof(block[0]);
			if (nr == 0)
				break;
			work__charge(&table->work, nr);
			for (size_t j = 0; j < nr; j++)
				if (block[j].r_offset == address && !ELF64_R_SYM(block[j].r_info))
					return (uint64_t)block[j].r_addend;
			left -= nr;
			offset += nr * sizeof(block[0]);
		}
	}
	return 0;
}

/* An address that stands at address, which is offset in the file; 0: none. */
static uint64_t read_address(struct go_table *table, uint64_t address, uint64_t offset)
{
	unsigned char bytes[sizeof(uint64_t)];
	uint64_t value = 0;

	work__charge(&table->work, READ_COST);
	if (elf_symbols__read(table->elf, bytes, table->word, offset) == table->word)
		value = get_number(bytes, table->word);
	/* Linkers need not write what a relocation overwrites. */
	return value ? value : relocated(table, address);
}

static uint64_t find_text(struct go_table *table)
{
	uint64_t at = HEADER_BYTES + TEXT_WORD * table->word;
	uint64_t text = 0;

	/* One or the other: what is not there is not looked for among relocations. */
	if (table->module) {
		at = MODULE_TEXT_WORD * table->word;
		text = read_address(table, table->module->address + at, table->module->offset + at);
	} else {
		text = read_address(table, table->address + at, table->offset + at);
	}
	return text || !table->code ? text : table->code->address;
}

/* Whether there is room for the pairs that are said to be there. */
static bool is_within(const struct go_table *table)
{
	return table->functions < table->size && table->names < table->size &&
	       table->nr < (table->size - table->functions) / (2 * table->entry);
}

static bool read_header(struct go_table *table)
{
	unsigned char bytes[HEADER_BYTES + HEADER_WORDS * sizeof(uint64_t)];
	uint64_t words[HEADER_WORDS];

	if (!read_table(table, bytes, HEADER_BYTES, 0) ||
	    !is_header(table->elf, (const char *)bytes))
		return false;
	table->magic = (uint32_t)get_number(bytes, sizeof(table->magic));
	table->word = bytes[7];
	if (!read_table(table, bytes, HEADER_BYTES + HEADER_WORDS * table->word, 0))
		return false;
	for (size_t i = 0; i < HEADER_WORDS; i++)
		words[i] = get_number(bytes + HEADER_BYTES + i * table->word, table->word);
	table->nr = words[0];
	table->entry = table->word;
	switch (table->magic) {
	case MAGIC_2:
		table->functions = HEADER_BYTES + table->word;
		break;
	case MAGIC_16:
		table->names = words[2];
		table->functions = words[6];
		break;
	default:
		table->names = words[3];
		table->functions = words[7];
		table->entry = sizeof(uint32_t);
		table->text = find_text(table);
	}
	return is_within(table);
}

/* ---- functions ---- */

/* Number i of a block's functions: where it begins. */
static uint64_t start_of(const struct go_table *table, const struct go_block *block, uint64_t i)
{
	return table->text + get_number(block->bytes + 2 * i * table->entry, table->entry);
}

static uint64_t description_of(const struct go_table *table, const struct go_block *block,
			       uint64_t i)
{
	return get_number(block->bytes + (2 * i + 1) * table->entry, table->entry) +
	       (table->magic == MAGIC_2 ? 0 : table->functions);
}

/* Those from number first on, nr at most. */
static bool read_block(struct go_table *table, struct go_block *block, uint64_t first, uint64_t nr)
{
	block->first = first;
	block->nr = table->nr - first < nr ? table->nr - first : nr;
	if (read_table(table, block->bytes, (2 * block->nr + 1) * table->entry,
		       table->functions + 2 * first * table->entry))
		return true;
	block->nr = 0;
	return false;
}

static bool is_in_block(const struct go_table *table, const struct go_block *block,
			uint64_t address)
{
	return block->nr && address >= start_of(table, block, 0) &&
	       address < start_of(table, block, block->nr);
}

/* Make block the one that address lies in; false if no function does. */
static bool find_block(struct go_table *table, struct go_block *block, uint64_t address)
{
	uint64_t first = 0, end = (table->nr + BLOCK_FUNCTIONS - 1) / BLOCK_FUNCTIONS;

	if (is_in_block(table, block, address))
		return true;
	while (end - first > 1) {
		uint64_t middle = first + (end - first) / 2;

		if (!read_block(table, block, middle * BLOCK_FUNCTIONS, 1))
			return false;
		if (start_of(table, block, 0) <= address)
			first = middle;
		else
			end = middle;
	}
	return end && read_block(table, block, first * BLOCK_FUNCTIONS, BLOCK_FUNCTIONS) &&
	       is_in_block(table, block, address);
}

/* The last function of the block that begins at or before address, which lies in it. */
static uint64_t find_in_block(const struct go_table *table, const struct go_block *block,
			      uint64_t address)
{
	uint64_t first = 0, end = block->nr;

	while (end - first > 1) {
		uint64_t middle = first + (end - first) / 2;

		if (start_of(table, block, middle) <= address)
			first = middle;
		else
			end = middle;
	}
	return first;
}

/* The name of the function with that description; NULL if it has none, or without memory. */
static const char *read_name(struct go_table *table, uint64_t description, struct arena *names,
			     int *err)
{
	unsigned char bytes[sizeof(uint64_t) + sizeof(uint32_t)];
	size_t size = table->entry + sizeof(uint32_t);
	char name[ELF_SYMBOLS_NAME_MAX];
	const char *kept;
	uint64_t offset;
	size_t length;

	if (!read_table(table, bytes, size, description))
		return NULL;
	offset = table->names + get_number(bytes + table->entry, sizeof(uint32_t));
	if (offset >= table->size)
		return NULL;
	work__charge(&table->work, READ_COST);
	length = table->size - offset < sizeof(name) ? table->size - offset : sizeof(name);
	length = elf_symbols__read(table->elf, name, length, table->offset + offset);
	length = strnlen(name, length);
	work__charge(&table->work, length);
	if (length == 0)
		return NULL;
	kept = arena__copy_string(names, name, length);
	*err = kept ? 0 : -ENOMEM;
	return kept;
}

static int find_all(struct go_table *table, struct elf_lookup *lookups, size_t nr,
		    struct arena *names)
{
	const struct elf_lookup *previous = NULL;
	struct go_block block = {0};
	int err = 0;

	for (size_t i = 0; i < nr && work__is_left(&table->work) && !err; i++) {
		struct elf_lookup *lookup = &lookups[i];
		uint64_t number, description;

		if (lookup->name || !find_block(table, &block, lookup->address))
			continue;
		number = find_in_block(table, &block, lookup->address);
		lookup->start = start_of(table, &block, number);
		/* An unsorted table can lead to a function behind. */
		if (lookup->start > lookup->address)
			continue;
		description = description_of(table, &block, number);
		if (previous && previous->start == lookup->start)
			lookup->name = previous->name;
		else
			lookup->name = read_name(table, description, names, &err);
		if (lookup->name)
			previous = lookup;
	}
	return err;
}

static bool all_named(const struct elf_lookup *lookups, size_t nr)
{
	size_t named = 0;

	while (named < nr && lookups[named].name)
		named++;
	return named == nr;
}

int go_functions__find(const struct elf_symbols *elf, struct elf_lookup *lookups, size_t nr,
		       struct arena *names, uint64_t *work)
{
	struct go_table table = {.elf = elf, .work = work__share(work, WORK_MAX)};
	int err;

	if (all_named(lookups, nr) || !find_table(&table) || !read_header(&table))
		return work__is_left(&table.work) ? 0 : -EFBIG;
	err = find_all(&table, lookups, nr, names);
	return err || work__is_left(&table.work) ? err : -EFBIG;
}
