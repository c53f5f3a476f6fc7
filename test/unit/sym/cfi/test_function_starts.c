// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/cfi/function_starts.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "sym/elf/symbols.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/cfi_bytes.h"
#include "test/unit/section_file.h"
#include "test/unit/tap.h"

#define CODE   0x400000
#define SIZE   0x80000
#define HEADER 0x600000 /* the address of .eh_frame_hdr */

/* More than are read together. */
#define PAIRS_MAX 1500

/* The functions of a file, and where their FDEs are in .eh_frame. */
struct functions {
	struct cfi_buffer frame;
	size_t cie;
	struct {
		uint64_t start;
		size_t entry;
	} items[PAIRS_MAX];
	size_t nr;
};

static void begin(struct functions *functions)
{
	functions->frame.size = 0;
	functions->cie = cfi_buffer__cie(&functions->frame, false);
	functions->nr = 0;
}

static void add(struct functions *functions, uint64_t start, uint32_t size)
{
	functions->items[functions->nr].start = start;
	functions->items[functions->nr++].entry = functions->frame.size;
	cfi_buffer__fde(&functions->frame, functions->cie, start, size, "", 0);
}

/* A file with .eh_frame, perhaps a table for it, and code from CODE on. */
struct file {
	struct section_file file;
	struct elf_segment segments[2];
	unsigned char header[12 + 8 * PAIRS_MAX];
	size_t header_size;
};

static void put(struct file *file, const void *bytes, size_t size)
{
	memcpy(file->header + file->header_size, bytes, size);
	file->header_size += size;
}

static void put_word(struct file *file, uint64_t word)
{
	uint32_t low = (uint32_t)word;

	put(file, &low, sizeof(low));
}

/* As linkers write it. nr: how many pairs it says that there are. */
static void make_header(struct file *file, const struct functions *functions, uint32_t nr)
{
	static const unsigned char start[] = {1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
					      DW_EH_PE_datarel | DW_EH_PE_sdata4};

	file->header_size = 0;
	put(file, start, sizeof(start));
	put_word(file, (uint64_t)CFI_BYTES_ADDRESS - (HEADER + 4));
	put_word(file, nr);
	for (size_t i = 0; i < functions->nr; i++) {
		put_word(file, functions->items[i].start - HEADER);
		put_word(file, CFI_BYTES_ADDRESS + functions->items[i].entry - HEADER);
	}
}

static void close_file(struct file *file)
{
	file->file.elf.segments = NULL;
	section_file__close(&file->file);
}

#define CLEANUP_FILE CLEANUP(close_file)

static struct elf_segment segment_of(const struct file *file, size_t section, uint64_t address)
{
	const Elf64_Shdr *header = &file->file.headers[section];

	return (struct elf_segment){.offset = header->sh_offset,
				    .size = header->sh_size,
				    .memory = header->sh_size,
				    .address = address,
				    .flags = PF_R};
}

/* With the header that was made, if has_table. */
static void make_file(struct file *file, const char *name, const struct functions *functions,
		      bool has_table)
{
	const bool in_memory = name[1] == 'e';
	const struct file_section sections[] = {
		{name, functions->frame.bytes, functions->frame.size, in_memory ? SHF_ALLOC : 0},
		{".eh_frame_hdr", file->header, file->header_size, SHF_ALLOC},
	};

	file->file = (struct section_file){.elf.fd = -1};
	section_file__make(&file->file, sections, has_table ? 2 : 1);
	file->file.headers[1].sh_addr = in_memory ? CFI_BYTES_ADDRESS : 0;
	section_file__open(&file->file);
	free(file->file.elf.segments);
	file->segments[0] = (struct elf_segment){
		.address = CODE, .size = SIZE, .memory = SIZE, .flags = PF_R | PF_X};
	file->segments[1] = segment_of(file, 1, CFI_BYTES_ADDRESS);
	if (has_table)
		file->file.elf.eh_frame_header = segment_of(file, 2, HEADER);
	file->file.elf.segments = file->segments;
	file->file.elf.nr_segments = 2;
}

static uint64_t start_in(const struct file *file, uint64_t address)
{
	struct elf_lookup lookup = {.address = address, .start = 77};
	uint64_t work = ELF_SYMBOLS_WORK;

	CHECK_INT(function_starts__find(&file->file.elf, &lookup, 1, &work), 0);
	CHECK(lookup.name == NULL);
	return lookup.start;
}

static void check_three(const struct file *file)
{
	CHECK_INT(start_in(file, CODE), 0);
	CHECK_INT(start_in(file, CODE + 0xff), 0);
	CHECK_INT(start_in(file, CODE + 0x100), CODE + 0x100);
	CHECK_INT(start_in(file, CODE + 0x11f), CODE + 0x100);
	CHECK_INT(start_in(file, CODE + 0x120), CODE + 0x120);
	CHECK_INT(start_in(file, CODE + 0x121), 0);
	CHECK_INT(start_in(file, CODE + 0x1ff), 0);
	CHECK_INT(start_in(file, CODE + 0x200), CODE + 0x200);
	CHECK_INT(start_in(file, CODE + 0x2ff), CODE + 0x200);
	CHECK_INT(start_in(file, CODE + 0x300), 0);
	CHECK_INT(start_in(file, 0), 0);
	CHECK_INT(start_in(file, UINT64_MAX), 0);
}

static void add_three(struct functions *functions)
{
	begin(functions);
	add(functions, CODE + 0x100, 0x20);
	add(functions, CODE + 0x120, 1);
	add(functions, CODE + 0x200, 0x100);
}

static void by_table(void)
{
	static struct functions functions;
	CLEANUP_FILE struct file file = {.file.elf.fd = -1};

	add_three(&functions);
	make_header(&file, &functions, 3);
	make_file(&file, ".eh_frame", &functions, true);
	check_three(&file);
}

static void without_table(void)
{
	static struct functions functions;
	CLEANUP_FILE struct file file = {.file.elf.fd = -1};

	add_three(&functions);
	make_file(&file, ".eh_frame", &functions, false);
	check_three(&file);
}

/* The header says where .eh_frame is, but has no table, and no section says it. */
static void without_sections(void)
{
	static struct functions functions;
	CLEANUP_FILE struct file file = {.file.elf.fd = -1};

	add_three(&functions);
	make_header(&file, &functions, 3);
	file.header[3] = DW_EH_PE_omit;
	make_file(&file, ".eh_frame", &functions, true);
	file.file.elf.nr_sections = 0;
	check_three(&file);
}

/* Addresses as they are, since the section is at none; a CIE is told by its offset, or by ~0. */
static void in_debug_frame(void)
{
	static struct functions functions;
	CLEANUP_FILE struct file file = {.file.elf.fd = -1};
	static const unsigned char cie[] = {20, 0,    0,  0,  0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0,
					    1,	0x78, 16, 12, 7,    8,	  0x90, 1,    0, 0, 0, 0};
	const uint64_t range[] = {CODE + 0x100, 0x20};
	struct cfi_buffer *frame = &functions.frame;

	begin(&functions);
	frame->size = 0;
	cfi_buffer__put(frame, cie, sizeof(cie));
	cfi_buffer__word(frame, 4 + sizeof(range));
	cfi_buffer__word(frame, 0);
	cfi_buffer__put(frame, range, sizeof(range));
	make_file(&file, ".debug_frame", &functions, false);
	CHECK_INT(start_in(&file, CODE + 0xff), 0);
	CHECK_INT(start_in(&file, CODE + 0x100), CODE + 0x100);
	CHECK_INT(start_in(&file, CODE + 0x11f), CODE + 0x100);
	CHECK_INT(start_in(&file, CODE + 0x120), 0);
}

/* Each lookup for itself, and all of them together. */
static void many_functions(void)
{
	static struct functions functions;
	CLEANUP_FILE struct file file = {.file.elf.fd = -1};
	static struct elf_lookup lookups[2 * PAIRS_MAX];
	uint64_t work = ELF_SYMBOLS_WORK;
	size_t wrong = 0;

	begin(&functions);
	for (uint64_t i = 0; i < PAIRS_MAX; i++)
		add(&functions, CODE + 0x20 * i, 0x10);
	make_header(&file, &functions, PAIRS_MAX);
	make_file(&file, ".eh_frame", &functions, true);
	for (uint64_t i = 0; i < PAIRS_MAX; i++) {
		wrong += start_in(&file, CODE + 0x20 * i + 0xf) != CODE + 0x20 * i;
		wrong += start_in(&file, CODE + 0x20 * i + 0x10) != 0;
		lookups[2 * i].address = CODE + 0x20 * i + 0xf;
		lookups[2 * i + 1].address = CODE + 0x20 * i + 0x10;
	}
	CHECK_INT(wrong, 0);
	CHECK_INT(function_starts__find(&file.file.elf, lookups, ARRAY_SIZE(lookups), &work), 0);
	for (uint64_t i = 0; i < PAIRS_MAX; i++)
		wrong += lookups[2 * i].start != CODE + 0x20 * i || lookups[2 * i + 1].start;
	CHECK_INT(wrong, 0);
}

static void names_stay(void)
{
	static struct functions functions;
	CLEANUP_FILE struct file file = {.file.elf.fd = -1};
	struct elf_lookup lookups[] = {{.address = CODE + 0x101, .name = "f", .start = CODE + 1},
				       {.address = CODE + 0x102},
				       {.address = CODE + 0x103, .name = "g", .start = CODE + 2}};
	uint64_t work = ELF_SYMBOLS_WORK;

	add_three(&functions);
	make_header(&file, &functions, 3);
	make_file(&file, ".eh_frame", &functions, true);
	CHECK_INT(function_starts__find(&file.file.elf, lookups, 3, &work), 0);
	CHECK_INT(lookups[0].start, CODE + 1);
	CHECK_STR(lookups[0].name, "f");
	CHECK_INT(lookups[1].start, CODE + 0x100);
	CHECK_INT(lookups[2].start, CODE + 2);
}

/* The function that begins last, as an assembler's file can have one in another. */
static void overlapping(void)
{
	static struct functions functions;
	CLEANUP_FILE struct file file = {.file.elf.fd = -1};

	begin(&functions);
	add(&functions, CODE + 0x140, 0x10);
	add(&functions, CODE + 0x100, 0x100);
	make_file(&file, ".eh_frame", &functions, false);
	CHECK_INT(start_in(&file, CODE + 0x13f), CODE + 0x100);
	CHECK_INT(start_in(&file, CODE + 0x140), CODE + 0x140);
	CHECK_INT(start_in(&file, CODE + 0x14f), CODE + 0x140);
	CHECK_INT(start_in(&file, CODE + 0x150), CODE + 0x100);
}

/* What begins in front of the segment of the code, or where no code is, is no function. */
static void in_other_segments(void)
{
	static struct functions functions;

	begin(&functions);
	add(&functions, CODE - 0x10, 0x20);
	add(&functions, CODE + SIZE - 1, 0x20);
	add(&functions, CFI_BYTES_ADDRESS, 0x20);
	for (int table = 0; table < 2; table++) {
		CLEANUP_FILE struct file file = {.file.elf.fd = -1};

		make_header(&file, &functions, 3);
		make_file(&file, ".eh_frame", &functions, table);
		CHECK_INT(start_in(&file, CODE - 1), 0);
		CHECK_INT(start_in(&file, CODE + 1), 0);
		CHECK_INT(start_in(&file, CODE + SIZE - 1), CODE + SIZE - 1);
		CHECK_INT(start_in(&file, CODE + SIZE), 0);
		CHECK_INT(start_in(&file, CFI_BYTES_ADDRESS + 1), 0);
	}
}

/* Whatever a table says, only an entry that covers the address counts. */
static void lying_tables(void)
{
	static struct functions functions;
	CLEANUP_FILE struct file file = {.file.elf.fd = -1};

	/* It leads to another function's entry, to a CIE, into an entry, nowhere. */
	add_three(&functions);
	functions.items[0].entry = functions.items[2].entry;
	functions.items[1].entry = functions.cie;
	functions.items[2].entry += 4;
	add(&functions, CODE + 0x400, 16);
	functions.items[3].entry = 0x10000000;
	make_header(&file, &functions, UINT32_MAX);
	make_file(&file, ".eh_frame", &functions, true);
	CHECK_INT(start_in(&file, CODE + 0x101), 0);
	CHECK_INT(start_in(&file, CODE + 0x120), 0);
	CHECK_INT(start_in(&file, CODE + 0x201), 0);
	CHECK_INT(start_in(&file, CODE + 0x401), 0);
	close_file(&file);
	/* Its first pair is not the lowest. */
	add_three(&functions);
	functions.items[0].start = CODE + 0x1000;
	make_header(&file, &functions, 3);
	make_file(&file, ".eh_frame", &functions, true);
	CHECK_INT(start_in(&file, CODE + 0x210), CODE + 0x200);
}

/* Each byte of an entry can be anything: nothing is found that does not cover the address. */
static void spoilt_entries(void)
{
	static struct functions functions;

	for (size_t at = 0; at < 80; at++) {
		CLEANUP_FILE struct file file = {.file.elf.fd = -1};
		uint64_t start;

		add_three(&functions);
		functions.frame.bytes[at] ^= 0xff;
		make_header(&file, &functions, 3);
		make_file(&file, ".eh_frame", &functions, at % 2);
		start = start_in(&file, CODE + 0x210);
		CHECK(start <= CODE + 0x210 && (!start || start >= CODE));
	}
}

static void bounded(void)
{
	static struct functions functions;
	CLEANUP_FILE struct file file = {.file.elf.fd = -1};
	struct elf_lookup lookups[64];
	uint64_t work = 500;

	begin(&functions);
	for (size_t i = 0; i < PAIRS_MAX; i++)
		add(&functions, CODE + i, SIZE / 2);
	make_file(&file, ".eh_frame", &functions, false);
	for (size_t i = 0; i < ARRAY_SIZE(lookups); i++)
		lookups[i] = (struct elf_lookup){.address = CODE + 0x2000 + i};
	CHECK_INT(function_starts__find(&file.file.elf, lookups, ARRAY_SIZE(lookups), &work),
		  -EFBIG);
	CHECK_INT(work, 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"the first byte to the last of a function, by the table", by_table},
		{"from end to end, where there is no table", without_table},
		{"without a table and without sections", without_sections},
		{".debug_frame", in_debug_frame},
		{"more functions than are read together", many_functions},
		{"lookups with a name stay as they are", names_stay},
		{"a function in another", overlapping},
		{"a start in another segment is none", in_other_segments},
		{"tables that lead elsewhere", lying_tables},
		{"entries that are spoilt", spoilt_entries},
		{"the work is bounded", bounded},
	};

	return TAP_RUN(tests);
}
