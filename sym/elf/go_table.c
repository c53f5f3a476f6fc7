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
 * The functions, in 1.2 right behind the header, are sorted pairs: the address where one
 * begins, and the place of its description in this part. The description starts with the
 * address again and numbers of 32 bits: the first is the place of its name, the fourth that
 * of its stack pointer's changes, in the last but one of the parts. Behind the last pair
 * stands where its function ends. Since 1.18 both are u32, and addresses count from the
 * first code. In 1.2 there are no parts: all is counted from the header.
 */
#include "sym/elf/go_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "sym/elf/file.h"
#include "sym/elf/file_window.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

#define MAGIC_2	 0xfffffffb
#define MAGIC_16 0xfffffffa
#define MAGIC_18 0xfffffff0
#define MAGIC_20 0xfffffff1

#define HEADER_BYTES 8 /* before its words */
#define HEADER_WORDS 8 /* at most */
#define TEXT_WORD    2
/* Word of moduledata that holds the address of the code, in all versions that need it. */
#define MODULE_TEXT_WORD 22

/* A description, behind the address where the function begins. */
#define DESCRIPTION_BYTES  38 /* at most */
#define DESCRIPTION_DELTAS 12
#define DESCRIPTION_ID	   32 /* since 1.16, for what the runtime knows; behind it are flags */
#define DESCRIPTION_ID_20  36

/* Bytes that are searched for a header: more read-only data than the largest programs have. */
#define SCAN_BYTES_MAX ((uint64_t)64 * 1024 * 1024)
#define HEADER_ALIGN   8

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
bool go_table__read(struct go_table *table, void *buffer, size_t size, uint64_t offset)
{
	work__charge(&table->work, GO_READ_COST);
	return offset <= table->size && size <= table->size - offset &&
	       work__is_left(&table->work) &&
	       elf_file__read(table->elf, buffer, size, table->offset + offset) == size;
}

/* ---- where the table is ---- */

static bool is_magic(uint32_t magic)
{
	return magic == MAGIC_2 || magic == MAGIC_16 || magic == MAGIC_18 || magic == MAGIC_20;
}

static bool is_header(const struct elf_file *elf, const char *bytes)
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

	for (size_t i = 0; i < table->elf->nr_sections && work__is_left(&table->work); i++) {
		const struct elf_section *section = &table->elf->sections[i];
		const char *name = elf_file__section_name(table->elf, section);

		if (section->type != SHT_PROGBITS && section->type != SHT_NOTE)
			continue;
		work__charge(&table->work, 1);
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

/* Find a header in a section; false if there is none. */
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
 * The table has a section, unless GNU ld has linked a PIE: then it is part of .data.rel.ro. This
 * section is searched only in files that Go says it has made.
 */
static bool find_table(struct go_table *table)
{
	find_sections(table);
	if (table->whole)
		set_place(table, table->whole, 0);
	return table->whole || (table->mark && table->relro && scan_section(table, table->relro));
}

/* ---- its header ---- */

/* The address of the file that a relocation without a symbol writes at address; 0: none. */
static uint64_t relocated(struct go_table *table, uint64_t address)
{
	const struct elf_file *elf = table->elf;
	Elf64_Rela block[128];

	for (size_t i = 0; i < elf->nr_sections && elf->is_64bit; i++) {
		const struct elf_section *section = &elf->sections[i];
		uint64_t left = section->size / sizeof(block[0]), offset = section->offset;

		if (section->type != SHT_RELA)
			continue;
		while (left && work__is_left(&table->work)) {
			size_t nr = left < ARRAY_SIZE(block) ? left : ARRAY_SIZE(block);

			nr = elf_file__read(elf, block, nr * sizeof(block[0]), offset) /
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

/* Read the address that stands at address, which is offset in the file; 0: none. */
static uint64_t read_address(struct go_table *table, uint64_t address, uint64_t offset)
{
	unsigned char bytes[sizeof(uint64_t)];
	uint64_t value = 0;

	work__charge(&table->work, GO_READ_COST);
	if (elf_file__read(table->elf, bytes, table->word, offset) == table->word)
		value = get_number(bytes, table->word);
	/* Linkers need not write what a relocation overwrites. */
	return value ? value : relocated(table, address);
}

static uint64_t find_text(struct go_table *table)
{
	uint64_t at = HEADER_BYTES + TEXT_WORD * table->word;
	uint64_t text = 0;

	/* Ask one or the other: relocations would be searched for one that is not there. */
	if (table->module) {
		at = MODULE_TEXT_WORD * table->word;
		text = read_address(table, table->module->address + at, table->module->offset + at);
	} else {
		text = read_address(table, table->address + at, table->offset + at);
	}
	return text || !table->code ? text : table->code->address;
}

/* True if there is room for the pairs that the header states. */
static bool is_within(const struct go_table *table)
{
	return table->functions < table->size && table->names < table->size &&
	       table->nr < (table->size - table->functions) / (2 * table->entry);
}

static bool read_header(struct go_table *table)
{
	unsigned char bytes[HEADER_BYTES + HEADER_WORDS * sizeof(uint64_t)];
	uint64_t words[HEADER_WORDS];

	if (!go_table__read(table, bytes, HEADER_BYTES, 0) ||
	    !is_header(table->elf, (const char *)bytes))
		return false;
	table->magic = (uint32_t)get_number(bytes, sizeof(table->magic));
	table->quantum = bytes[6];
	table->word = bytes[7];
	if (!go_table__read(table, bytes, HEADER_BYTES + HEADER_WORDS * table->word, 0))
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
		table->deltas = words[5];
		table->functions = words[6];
		break;
	default:
		table->names = words[3];
		table->deltas = words[6];
		table->functions = words[7];
		table->entry = sizeof(uint32_t);
		table->text = find_text(table);
	}
	return is_within(table);
}

/* ---- functions ---- */

uint64_t go_table__start(const struct go_table *table, const struct go_block *block, uint64_t i)
{
	return table->text + get_number(block->bytes + 2 * i * table->entry, table->entry);
}

bool go_table__read_block(struct go_table *table, struct go_block *block, uint64_t first,
			  uint64_t nr)
{
	block->first = first;
	block->nr = table->nr - first < nr ? table->nr - first : nr;
	if (go_table__read(table, block->bytes, (2 * block->nr + 1) * table->entry,
			   table->functions + 2 * first * table->entry))
		return true;
	block->nr = 0;
	return false;
}

bool go_table__describe(struct go_table *table, const struct go_block *block, uint64_t i,
			struct go_description *description)
{
	unsigned char bytes[sizeof(uint64_t) + DESCRIPTION_BYTES] = {0}, *behind;
	uint64_t offset = get_number(block->bytes + (2 * i + 1) * table->entry, table->entry);
	size_t size = table->entry + DESCRIPTION_BYTES, id;

	if (table->magic != MAGIC_2)
		offset += table->functions;
	if (offset < table->size && table->size - offset < size)
		size = table->size - offset;
	if (size < table->entry + sizeof(uint32_t) || !go_table__read(table, bytes, size, offset))
		return false;
	behind = bytes + table->entry;
	id = table->magic == MAGIC_20 ? DESCRIPTION_ID_20 : DESCRIPTION_ID;
	*description = (struct go_description){
		.name = (uint32_t)get_number(behind, sizeof(uint32_t)),
		.deltas = (uint32_t)get_number(behind + DESCRIPTION_DELTAS, sizeof(uint32_t)),
		.flags = table->magic == MAGIC_2 ? 0 : behind[id + 1],
		.is_plain = table->magic == MAGIC_20 && !behind[id] && !behind[id + 1],
	};
	return true;
}

size_t go_table__read_name(struct go_table *table, uint32_t name, char *buffer, size_t size)
{
	uint64_t offset = table->names + name;

	work__charge(&table->work, GO_READ_COST);
	if (offset >= table->size)
		return 0;
	if (table->size - offset < size)
		size = table->size - offset;
	size = elf_file__read(table->elf, buffer, size, table->offset + offset);
	size = strnlen(buffer, size);
	work__charge(&table->work, size);
	return size;
}

bool go_table__open(struct go_table *table, const struct elf_file *elf, struct work work)
{
	*table = (struct go_table){.elf = elf, .work = work};
	return find_table(table) && read_header(table);
}
