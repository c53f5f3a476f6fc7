// SPDX-License-Identifier: GPL-2.0-or-later
#include "bpf/unwind_tables.h"
#include "sym/cfi/table.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/cfi/known_code.h"
#include "sym/cfi/rules.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/cfi_bytes.h"
#include "test/unit/go_image.h"
#include "test/unit/opened_elf.h"
#include "test/unit/section_file.h"
#include "test/unit/tap.h"

#define PAGE  0x10000
#define START (0x400000 + PAGE / 2) /* of the code, which has four pages in part */
#define SIZE  (3 * PAGE)
#define DELTA 0x300000 /* from an offset in the file to an address */

/* A file with that .eh_frame, and code from START on. */
struct file {
	struct section_file file;
	struct elf_segment segments[UNWIND_CODES_MAX + 1];
	struct unwind_rules rules;
	struct unwind_table table;
};

static void close_file(struct file *file)
{
	file->file.elf.segments = NULL;
	section_file__close(&file->file);
	unwind_rules__release(&file->rules);
	unwind_table__release(&file->table);
}

#define CLEANUP_FILE CLEANUP(close_file)

static void make_of_sections(struct file *file, const struct file_section *sections, size_t nr)
{
	*file = (struct file){.file.elf.fd = -1};
	section_file__make(&file->file, sections, nr);
	file->file.headers[1].sh_addr = CFI_BYTES_ADDRESS;
	section_file__open(&file->file);
	free(file->file.elf.segments);
	file->segments[0] = (struct elf_segment){.offset = START - DELTA,
						 .address = START,
						 .size = SIZE,
						 .memory = SIZE,
						 .flags = PF_R | PF_X};
	file->file.elf.segments = file->segments;
	file->file.elf.nr_segments = 1;
	file->file.elf.machine = EM_X86_64;
	CHECK_INT(unwind_rules__init(&file->rules), 0);
}

static void make_file(struct file *file, const char *section, const struct cfi_buffer *buffer)
{
	const struct file_section sections[] = {{section, buffer->bytes, buffer->size, SHF_ALLOC}};

	make_of_sections(file, sections, ARRAY_SIZE(sections));
}

static int read_table(struct file *file)
{
	uint64_t work = 100000;

	return unwind_table__read(&file->table, &file->rules, &file->file.elf, &work);
}

/* The offset of the CFA at an offset of the file, or -1 - its kind if that is none. */
static int cfa_in_file(const struct file *file, uint64_t offset)
{
	uint32_t number = unwind_table__find(&file->table, offset);
	const struct unwind_rule *rule;

	if (number >= file->rules.nr)
		return -100;
	rule = &file->rules.items[number];
	return rule->cfa == UNWIND_REGISTER ? rule->cfa_offset : -1 - rule->cfa;
}

static int cfa_at(const struct file *file, uint64_t address)
{
	return cfa_in_file(file, address - DELTA);
}

#define NONE (-1 - UNWIND_NONE)

static void add(struct cfi_buffer *buffer, size_t cie, uint64_t start, uint64_t size,
		uint8_t offset)
{
	const unsigned char instructions[] = {DW_CFA_def_cfa_offset, offset};

	cfi_buffer__fde(buffer, cie, start, (uint32_t)size, instructions, sizeof(instructions));
}

static void across_pages(void)
{
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__cie(&buffer, false);
	CLEANUP_FILE struct file file;

	/*
	 * A function from page to page, one that begins with a page, one in the last byte of the
	 * code.
	 */
	add(&buffer, cie, START + 16, PAGE, 16);
	add(&buffer, cie, 0x420000, 16, 24);
	add(&buffer, cie, START + SIZE - 1, 1, 32);
	make_file(&file, ".eh_frame", &buffer);
	CHECK_INT(read_table(&file), 0);
	CHECK_INT(file.table.start, 0x400000 - DELTA);
	CHECK_INT(file.table.nr_pages, 4);
	CHECK_INT(cfa_at(&file, 0), NONE);
	CHECK_INT(cfa_at(&file, 0x400000), NONE);
	CHECK_INT(cfa_at(&file, START + 15), NONE);
	CHECK_INT(cfa_at(&file, START + 16), 16);
	CHECK_INT(cfa_at(&file, 0x40ffff), 16);
	CHECK_INT(cfa_at(&file, 0x410000), 16);
	CHECK_INT(cfa_at(&file, START + 16 + PAGE - 1), 16);
	CHECK_INT(cfa_at(&file, START + 16 + PAGE), NONE);
	CHECK_INT(cfa_at(&file, 0x41ffff), NONE);
	CHECK_INT(cfa_at(&file, 0x420000), 24);
	CHECK_INT(cfa_at(&file, 0x42000f), 24);
	CHECK_INT(cfa_at(&file, 0x420010), NONE);
	CHECK_INT(cfa_at(&file, START + SIZE - 2), NONE);
	CHECK_INT(cfa_at(&file, START + SIZE - 1), 32);
	CHECK_INT(cfa_at(&file, 0x440000), NONE);
	CHECK_INT(cfa_at(&file, UINT64_MAX), NONE);
}

static int base_at(const struct file *file, uint64_t address)
{
	return file->rules.items[unwind_table__find(&file->table, address - DELTA)].base;
}

/* Two functions, of which the second may reach its frame by %rbx. */
static void make_based(struct file *file, bool is_based)
{
	const unsigned char saves[] = {DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 3, 3};
	const unsigned char reaches[] = {DW_CFA_def_cfa_register, is_based ? 3 : 6};
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__cie(&buffer, false);

	cfi_buffer__fde(&buffer, cie, START, 16, saves, sizeof(saves));
	cfi_buffer__fde(&buffer, cie, START + 16, 16, reaches, sizeof(reaches));
	make_file(file, ".eh_frame", &buffer);
	CHECK_INT(read_table(file), 0);
	CHECK_INT(cfa_at(file, START), 32);
	CHECK_INT(cfa_at(file, START + 16), 8);
}

/* Else it would only make more rules. */
static void base_where_needed(void)
{
	CLEANUP_FILE struct file plain, based;

	make_based(&plain, false);
	CHECK_INT(base_at(&plain, START), UNWIND_BASE_LOST);
	CHECK_INT(base_at(&plain, START + 16), UNWIND_BASE_LOST);
	make_based(&based, true);
	CHECK_INT(base_at(&based, START), 3);
	CHECK_INT(base_at(&based, START + 16), UNWIND_BASE_SAME);
}

static void rows_of_one_rule(void)
{
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__cie(&buffer, false);
	CLEANUP_FILE struct file file;

	for (uint64_t i = 0; i < 8; i++)
		add(&buffer, cie, START + i * 16, 16, 16);
	/* A function that ends with the page, and another that goes on with the next. */
	add(&buffer, cie, 0x41ff00, 0x100, 24);
	add(&buffer, cie, 0x420000, 0x100, 32);
	make_file(&file, ".eh_frame", &buffer);
	CHECK_INT(read_table(&file), 0);
	CHECK_INT(file.table.pages[0].nr, 3);
	CHECK_INT(file.table.pages[1].nr, 2);
	CHECK_INT(file.table.pages[2].nr, 2);
	CHECK_INT(file.table.pages[3].nr, 0);
	CHECK_INT(cfa_at(&file, 0x41ffff), 24);
	CHECK_INT(cfa_at(&file, 0x420000), 32);
	/* A second file has the same rules. */
	CHECK_INT(file.rules.nr, 3 + 3);
	unwind_table__release(&file.table);
	CHECK_INT(read_table(&file), 0);
	CHECK_INT(file.rules.nr, 3 + 3);
}

#define END (-1 - UNWIND_END)

/* Rows of a page are told apart by where they begin. */
static void check_ascending(const struct file *file)
{
	for (size_t i = 0; i < file->table.nr_pages; i++) {
		const struct unwind_table_page *page = &file->table.pages[i];

		for (uint32_t k = 1; k < page->nr; k++)
			CHECK(unwind_row_low(file->table.rows[page->first + k]) >
			      unwind_row_low(file->table.rows[page->first + k - 1]));
	}
}

/* Nothing called what begins a program; where there is a rule, that holds. */
static void entry(void)
{
	static const struct {
		uint64_t at;
		int rule, behind; /* there, and UNWIND_ENTRY_SIZE on */
	} cases[] = {
		{START + 100, 16, 16},	    /* in a function */
		{START + 0x200, END, NONE}, /* behind it, where another row begins */
		{START + 0x280, END, NONE}, /* later */
		{START + 0x3c0, END, 24},   /* just before the next one */
		{START - PAGE, NONE, NONE}, /* not in the code */
		{START + 0x500, END, NONE}, /* behind the last */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP_FILE struct file file;
		struct cfi_buffer buffer = {.size = 0};
		size_t cie = cfi_buffer__cie(&buffer, false);

		add(&buffer, cie, START, 0x200, 16);
		add(&buffer, cie, START + 0x400, 0x100, 24);
		make_file(&file, ".eh_frame", &buffer);
		file.file.elf.entry = cases[i].at;
		CHECK_INT(read_table(&file), 0);
		CHECK_INT(cfa_at(&file, cases[i].at), cases[i].rule);
		CHECK_INT(cfa_at(&file, cases[i].at + UNWIND_ENTRY_SIZE), cases[i].behind);
		CHECK_INT(cfa_at(&file, START + 0x450), 24);
		check_ascending(&file);
	}
}

/* Of a file with that .init, which puts a word on the stack in its first bytes. */
static void check_init(const unsigned char *code, size_t size, uint64_t pushed, bool is_known)
{
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__cie(&buffer, false);
	const uint64_t start = START + 0x500;
	CLEANUP_FILE struct file file;

	add(&buffer, cie, START, 0x200, 32);
	{
		const struct file_section sections[] = {
			{".eh_frame", buffer.bytes, buffer.size, SHF_ALLOC},
			{".init", code, size, SHF_ALLOC | SHF_EXECINSTR}};

		make_of_sections(&file, sections, ARRAY_SIZE(sections));
	}
	file.file.elf.sections[2].address = start;
	CHECK_INT(read_table(&file), 0);
	CHECK_INT(cfa_at(&file, START), 32);
	CHECK_INT(cfa_at(&file, start - 1), NONE);
	CHECK_INT(cfa_at(&file, start), is_known ? 8 : NONE);
	CHECK_INT(cfa_at(&file, start + pushed - 1), is_known ? 8 : NONE);
	CHECK_INT(cfa_at(&file, start + pushed), is_known ? 16 : NONE);
	CHECK_INT(cfa_at(&file, start + size - 2), is_known ? 16 : NONE);
	CHECK_INT(cfa_at(&file, start + size - 1), is_known ? 8 : NONE);
	CHECK_INT(cfa_at(&file, start + size), NONE);
	check_ascending(&file);
}

/* Nobody wrote call-frame information for these. */
static void init(void)
{
	static const unsigned char glibc[] = {0x48, 0x83, 0xec, 8,    0x48, 0x8b, 5,	0xcd,
					      0x0f, 3,	  0,	0x48, 0x85, 0xc0, 0x74, 2,
					      0xff, 0xd0, 0x48, 0x83, 0xc4, 8,	  0xc3};
	static const unsigned char marked[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec,
					       8,    0x48, 0x83, 0xc4, 8,    0xc3};
	static const unsigned char musl[] = {0x50, 0x58, 0xc3};
	static const unsigned char other[] = {0x48, 0x83, 0xec, 8,  0x90,
					      0x48, 0x83, 0xc4, 16, 0xc3};
	static const unsigned char large[65] = {0x50, [63] = 0x58, [64] = 0xc3};

	check_init(glibc, sizeof(glibc), 4, true);
	check_init(marked, sizeof(marked), 8, true);
	check_init(musl, sizeof(musl), 1, true);
	check_init(other, sizeof(other), 4, false);
	check_init(large, sizeof(large), 1, false);
	check_init(glibc, 8, 4, false);
	check_init(musl + 1, 2, 1, false);
}

/* A file of arm64 with a linkage table at START that begins with that instruction. */
static void make_stubs(struct file *file, uint32_t first, uint32_t second, uint16_t machine)
{
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__arm64_cie(&buffer, "");
	const uint32_t code[24] = {first, second};
	struct file_section sections[] = {{".eh_frame", buffer.bytes, 0, SHF_ALLOC},
					  {".plt", code, sizeof(code), SHF_ALLOC | SHF_EXECINSTR}};

	add(&buffer, cie, START + 0x400, 0x100, 24);
	sections[0].size = buffer.size;
	make_of_sections(file, sections, ARRAY_SIZE(sections));
	file->file.elf.sections[2].address = START;
	file->file.elf.machine = machine;
	CHECK_INT(read_table(file), 0);
	check_ascending(file);
}

/* Linkers for arm64 write no information about them. */
static void stubs(void)
{
	static const struct {
		uint32_t first, second;
		uint64_t pushed; /* from there on two words are on the stack */
	} headers[] = {{0xa9bf7bf0, 0, 4}, {0xd503245f, 0xa9bf7bf0, 8}};

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		CLEANUP_FILE struct file file;
		const struct unwind_rule *rule;

		make_stubs(&file, headers[i].first, headers[i].second, EM_AARCH64);
		CHECK_INT(cfa_at(&file, START), 0);
		CHECK_INT(cfa_at(&file, START + headers[i].pushed - 1), 0);
		CHECK_INT(cfa_at(&file, START + headers[i].pushed), 16);
		CHECK_INT(cfa_at(&file, START + 31), 16);
		CHECK_INT(cfa_at(&file, START + 32), 0);
		CHECK_INT(cfa_at(&file, START + 95), 0);
		CHECK_INT(cfa_at(&file, START + 96), NONE);
		CHECK_INT(cfa_at(&file, START + 0x400), 24);
		rule = &file.rules.items[unwind_table__find(&file.table, START + 40 - DELTA)];
		CHECK_INT(rule->cfa_register, 31);
		CHECK_INT(rule->return_address, UNWIND_IN_REGISTER);
		CHECK_INT(rule->return_address_register, 30);
		CHECK_INT(rule->frame_pointer, UNWIND_SAME);
	}
}

/* That of a static program, of indirect functions alone, has no header; other processors say it. */
static void other_stubs(void)
{
	CLEANUP_FILE struct file fixed, x86;

	make_stubs(&fixed, 0x90000010, 0xf9400211, EM_AARCH64);
	CHECK_INT(cfa_at(&fixed, START), 0);
	CHECK_INT(cfa_at(&fixed, START + 16), 0);
	CHECK_INT(cfa_at(&fixed, START + 95), 0);
	CHECK_INT(cfa_at(&fixed, START + 96), NONE);
	make_stubs(&x86, 0xa9bf7bf0, 0, EM_X86_64);
	CHECK_INT(cfa_at(&x86, START + 40), NONE);
}

/*
 * Two segments, whose places in the file are in another order than their addresses, as far apart as
 * a page of the table does not hold, and in one page of it.
 */
static void scattered(void)
{
	static const uint64_t places[][2] = {{0x50010, 0x1230}, {0x3010, 0x1230}};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const uint64_t first = places[i][0], second = places[i][1];
		struct cfi_buffer buffer = {.size = 0};
		size_t cie = cfi_buffer__cie(&buffer, false);
		CLEANUP_FILE struct file file;

		add(&buffer, cie, START - 0x10, 0x20, 16); /* it begins before the code */
		add(&buffer, cie, START + 0x100, 0x100, 24);
		add(&buffer, cie, START + 0xff0, 0x20, 32); /* it ends behind it */
		add(&buffer, cie, START + 0x8000, 0x1000, 40);
		make_file(&file, ".eh_frame", &buffer);
		file.segments[0].offset = first;
		file.segments[0].size = 0x1000;
		file.segments[1] = file.segments[0];
		file.segments[1].offset = second;
		file.segments[1].address = START + 0x8800;
		file.file.elf.nr_segments = 2;
		file.file.elf.entry = START + 0x500;
		CHECK_INT(read_table(&file), 0);
		CHECK_INT(file.table.start, 0);
		CHECK_INT(file.table.nr_pages, i ? 1 : 6);
		check_ascending(&file);
		CHECK_INT(cfa_in_file(&file, first - 1), NONE);
		CHECK_INT(cfa_in_file(&file, first), 16);
		CHECK_INT(cfa_in_file(&file, first + 0x10), NONE);
		CHECK_INT(cfa_in_file(&file, first + 0x100), 24);
		CHECK_INT(cfa_in_file(&file, first + 0x500), END);
		CHECK_INT(cfa_in_file(&file, first + 0x500 + UNWIND_ENTRY_SIZE), NONE);
		CHECK_INT(cfa_in_file(&file, first + 0xfff), 32);
		CHECK_INT(cfa_in_file(&file, first + 0x1000), NONE);
		CHECK_INT(cfa_in_file(&file, second - 1), NONE);
		CHECK_INT(cfa_in_file(&file, second), 40);
		CHECK_INT(cfa_in_file(&file, second + 0x7ff), 40);
		CHECK_INT(cfa_in_file(&file, second + 0x800), NONE);
		CHECK_INT(cfa_in_file(&file, second + 0x1000), NONE);
	}
}

/* The same bytes at two addresses, in whole and in part: what comes first in the file counts. */
static void mapped_twice(void)
{
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__cie(&buffer, false);
	CLEANUP_FILE struct file file;

	add(&buffer, cie, START, 0x1000, 16);
	add(&buffer, cie, START + 0x8000, 0x2000, 24);
	add(&buffer, cie, START + 0x10000, 0x1000, 32);
	make_file(&file, ".eh_frame", &buffer);
	file.segments[0].offset = 0x2000;
	file.segments[0].size = 0x1000;
	file.segments[2] = file.segments[1] = file.segments[0];
	file.segments[1].offset = 0x2800;
	file.segments[1].address = START + 0x8000;
	file.segments[2].offset = 0x2400;
	file.segments[2].size = 0x800;
	file.segments[2].address = START + 0x10000;
	file.file.elf.nr_segments = 3;
	CHECK_INT(read_table(&file), 0);
	check_ascending(&file);
	CHECK_INT(cfa_in_file(&file, 0x1fff), NONE);
	CHECK_INT(cfa_in_file(&file, 0x2000), 16);
	CHECK_INT(cfa_in_file(&file, 0x2fff), 16);
	CHECK_INT(cfa_in_file(&file, 0x3000), 24);
	CHECK_INT(cfa_in_file(&file, 0x37ff), 24);
	CHECK_INT(cfa_in_file(&file, 0x3800), NONE);
}

static void outside_of_code(void)
{
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__cie(&buffer, false);
	CLEANUP_FILE struct file file;

	add(&buffer, cie, 0x300000, 0x200000, 16);
	add(&buffer, cie, 0x700000, 16, 24);
	make_file(&file, ".eh_frame", &buffer);
	CHECK_INT(read_table(&file), 0);
	CHECK_INT(cfa_at(&file, 0x300000), NONE);
	CHECK_INT(cfa_at(&file, 0x700000), NONE);
	CHECK(file.table.nr_rows < 10);
}

static void no_section(void)
{
	struct cfi_buffer buffer = {.size = 0};
	CLEANUP_FILE struct file file;

	make_file(&file, ".nothing", &buffer);
	CHECK_INT(read_table(&file), -ENOENT);
}

/* What a debugger reads: a function of that size, whose CFA is by that offset. */
static void add_for_debugger(struct cfi_buffer *buffer, uint64_t start, uint64_t size,
			     uint8_t offset)
{
	static const unsigned char cie[] = {
		1, 0, 1, 0x78, 16, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1, 0};
	const uint64_t range[] = {start, size};
	const unsigned char fde[] = {DW_CFA_def_cfa_offset, offset, 0, 0};
	uint32_t at = (uint32_t)buffer->size;

	cfi_buffer__word(buffer, 4 + sizeof(cie));
	cfi_buffer__word(buffer, UINT32_MAX);
	cfi_buffer__put(buffer, cie, sizeof(cie));
	cfi_buffer__word(buffer, 4 + sizeof(range) + sizeof(fde));
	cfi_buffer__word(buffer, at);
	cfi_buffer__put(buffer, range, sizeof(range));
	cfi_buffer__put(buffer, fde, sizeof(fde));
}

/* Files can have it without .eh_frame, such as those of Go. */
static void debug_frame(void)
{
	struct cfi_buffer buffer = {.size = 0};
	CLEANUP_FILE struct file file;

	add_for_debugger(&buffer, START + 16, 32, 48);
	make_file(&file, ".debug_frame", &buffer);
	file.file.elf.sections[1].flags = 0;
	CHECK_INT(read_table(&file), 0);
	CHECK_INT(cfa_at(&file, START + 15), NONE);
	CHECK_INT(cfa_at(&file, START + 16), 48);
	CHECK_INT(cfa_at(&file, START + 48), NONE);
	/* Said to be compressed, or to be more than the file has. */
	unwind_table__release(&file.table);
	file.file.elf.sections[1].flags = SHF_COMPRESSED;
	CHECK_INT(read_table(&file), -EBADMSG);
	file.file.elf.sections[1].flags = 0;
	file.file.elf.sections[1].size = 1 << 20;
	CHECK_INT(read_table(&file), -EBADMSG);
	file.file.elf.sections[1].size = UINT64_MAX;
	CHECK_INT(read_table(&file), -EFBIG);
}

/* Each program has .eh_frame of the C library's files; its own functions may not. */
static void both(void)
{
	struct cfi_buffer frames = {.size = 0}, debug = {.size = 0};
	const struct file_section sections[] = {
		{".eh_frame", frames.bytes, sizeof(frames.bytes), SHF_ALLOC},
		{".debug_frame", debug.bytes, sizeof(debug.bytes), 0}};
	size_t cie = cfi_buffer__cie(&frames, false);
	CLEANUP_FILE struct file file;

	add(&frames, cie, START + 0x100, 0x100, 16);
	add(&frames, cie, 0x420000, 0x100, 24);
	add_for_debugger(&debug, 0, 0x1000000, 88); /* dropped by the linker */
	add_for_debugger(&debug, START + 0x80, 0x100, 32);
	add_for_debugger(&debug, START + 0x1c0, 0x80, 40);
	add_for_debugger(&debug, 0x41ff00, 0x1000, 48);
	make_of_sections(&file, sections, ARRAY_SIZE(sections));
	CHECK_INT(read_table(&file), 0);
	check_ascending(&file);
	CHECK_INT(cfa_at(&file, START + 0x7f), NONE);
	CHECK_INT(cfa_at(&file, START + 0x80), 32);
	CHECK_INT(cfa_at(&file, START + 0xff), 32);
	CHECK_INT(cfa_at(&file, START + 0x100), 16);
	CHECK_INT(cfa_at(&file, START + 0x1ff), 16);
	CHECK_INT(cfa_at(&file, START + 0x200), 40);
	CHECK_INT(cfa_at(&file, START + 0x23f), 40);
	CHECK_INT(cfa_at(&file, START + 0x240), NONE);
	CHECK_INT(cfa_at(&file, 0x41ffff), 48);
	CHECK_INT(cfa_at(&file, 0x420000), 24);
	CHECK_INT(cfa_at(&file, 0x4200ff), 24);
	CHECK_INT(cfa_at(&file, 0x420100), 48);
	CHECK_INT(cfa_at(&file, 0x420eff), 48);
	CHECK_INT(cfa_at(&file, 0x420f00), NONE);
}

/* A file whose .debug_frame, of 20 functions, can be spoilt: it is the second section. */
static void make_with_second(struct file *file)
{
	struct cfi_buffer frames = {.size = 0}, debug = {.size = 0};
	const struct file_section sections[] = {
		{".eh_frame", frames.bytes, sizeof(frames.bytes), SHF_ALLOC},
		{".debug_frame", debug.bytes, sizeof(debug.bytes), 0}};
	size_t cie = cfi_buffer__cie(&frames, false);

	add(&frames, cie, START, 0x100, 16);
	for (uint64_t i = 0; i < 20; i++)
		add_for_debugger(&debug, START + 0x200 + i, 1, 32);
	make_of_sections(file, sections, ARRAY_SIZE(sections));
	file->file.elf.sections[2].size = debug.size;
}

/* What cannot be read of .debug_frame leaves what .eh_frame says. */
static void second_is_damaged(void)
{
	static const uint64_t sizes[] = {1 << 20,
					 UINT64_MAX}; /* more than the file has, too much */

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		CLEANUP_FILE struct file file;

		make_with_second(&file);
		file.file.elf.sections[2].size = sizes[i];
		CHECK_INT(read_table(&file), 0);
		CHECK_INT(cfa_at(&file, START), 16);
		CHECK_INT(cfa_at(&file, START + 0x200), NONE);
	}
}

/* With little work .eh_frame is read, with more both. */
static void second_is_much_work(void)
{
	int first = 0, both_read = 0;
	CLEANUP_FILE struct file file;

	make_with_second(&file);
	for (uint64_t most = 0; most < 1000; most++) {
		uint64_t work = most;
		int err = unwind_table__read(&file.table, &file.rules, &file.file.elf, &work);

		if (err) {
			CHECK_INT(err, -EFBIG);
			CHECK(!first && !both_read);
			continue;
		}
		/* Instructions that there was no work for are unsupported. */
		CHECK(cfa_at(&file, START) != NONE);
		if (cfa_at(&file, START + 0x200) == NONE)
			first++;
		else
			both_read++;
		unwind_table__release(&file.table);
	}
	CHECK(first > 0);
	CHECK(both_read > 0);
}

/* A copy of this program. */
static struct elf_image read_self(void)
{
	CLEANUP_CLOSE int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_image image = {0};
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		abort();
	image.bytes = malloc((size_t)st.st_size);
	if (!image.bytes || read(fd, image.bytes, (size_t)st.st_size) != st.st_size)
		abort();
	image.size = (size_t)st.st_size;
	return image;
}

static int read_image(const struct elf_image *image, struct unwind_table *table,
		      struct unwind_rules *rules)
{
	CLEANUP_OPENED struct opened opened = open_image(image);
	uint64_t work = UINT64_MAX;

	return unwind_table__read(table, rules, &opened.elf, &work);
}

static bool has_header(const struct elf_image *image)
{
	CLEANUP_OPENED struct opened opened = open_image(image);

	return opened.elf.eh_frame_header.size != 0;
}

/* The bytes of _init() and _fini(), which nobody finds without section headers. */
static uint64_t known_by_sections(const struct elf_image *image)
{
	CLEANUP_OPENED struct opened opened = open_image(image);
	struct known_code codes[KNOWN_CODES_MAX];
	size_t nr = known_code__find(codes, &opened.elf);
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += codes[i].rule.cfa == UNWIND_REGISTER ? codes[i].end - codes[i].start : 0;
	return sum;
}

/* A file that was made smaller loses nothing else. */
static void no_section_headers(void)
{
	CLEANUP(unwind_table__release) struct unwind_table whole = {0}, stripped = {0};
	CLEANUP(unwind_rules__release) struct unwind_rules rules = {0};
	CLEANUP(elf_image__free) struct elf_image image = read_self();
	uint64_t lost = 0, known;

	if (!has_header(&image)) {
		tap_skip("this linker makes no .eh_frame_hdr");
		return;
	}
	known = known_by_sections(&image);
	CHECK_INT(unwind_rules__init(&rules), 0);
	CHECK_INT(read_image(&image, &whole, &rules), 0);
	elf_image__drop_sections(&image);
	CHECK_INT(read_image(&image, &stripped, &rules), 0);
	CHECK(whole.nr_rows > 100);
	CHECK_INT(stripped.start, whole.start);
	CHECK_INT(stripped.nr_pages, whole.nr_pages);
	for (uint64_t at = whole.start; at < whole.start + whole.nr_pages * PAGE; at++)
		lost += unwind_table__find(&stripped, at) != unwind_table__find(&whole, at);
	CHECK_INT(lost, known);
}

#define HEADER_ADDRESS (CFI_BYTES_ADDRESS - 0x100)

/* No section is .eh_frame, but one lies in a segment, and a header leads to it. */
static void make_headed(struct file *file, const struct cfi_buffer *buffer, const void *header,
			size_t size)
{
	const struct file_section sections[] = {{".frames", buffer->bytes, buffer->size, SHF_ALLOC},
						{".header", header, size, SHF_ALLOC}};

	make_of_sections(file, sections, ARRAY_SIZE(sections));
	file->segments[1] = (struct elf_segment){.offset = file->file.headers[1].sh_offset,
						 .size = buffer->size,
						 .address = CFI_BYTES_ADDRESS,
						 .flags = PF_R};
	file->file.elf.nr_segments = 2;
	file->file.elf.eh_frame_header = (struct elf_segment){
		.offset = file->file.headers[2].sh_offset, .size = size, .address = HEADER_ADDRESS};
}

/* "\1", an encoding, two of the table behind, and the pointer itself. */
#define HEADER(encoding, ...)                                                                      \
	{                                                                                          \
		1, encoding, 0x03, 0x3b, __VA_ARGS__                                               \
	}

static void headers(void)
{
	static const struct {
		unsigned char bytes[12];
		size_t size;
		int result;
	} cases[] = {
		{HEADER(DW_EH_PE_pcrel | DW_EH_PE_sdata4, 0xfc, 0), 12, 0},
		{HEADER(DW_EH_PE_datarel | DW_EH_PE_sdata4, 0, 1), 12, 0},
		{HEADER(DW_EH_PE_datarel | DW_EH_PE_udata2, 0, 1), 6, 0},
		{HEADER(DW_EH_PE_absptr, 0, 0, 0x50), 12, 0},
		{HEADER(DW_EH_PE_udata4, 0, 0, 0x50), 8, 0},
		/* Cut short, no header at all, and of another version. */
		{HEADER(DW_EH_PE_absptr, 0, 0, 0x50), 11, -ENOENT},
		{HEADER(DW_EH_PE_udata4, 0, 0, 0x50), 1, -ENOENT},
		{HEADER(DW_EH_PE_udata4, 0, 0, 0x50), 0, -ENOENT},
		{{2, DW_EH_PE_udata4, 0x03, 0x3b, 0, 0, 0x50}, 12, -ENOENT},
		/* No pointer, and such as no linker makes. */
		{HEADER(DW_EH_PE_omit, 0, 0, 0x50), 12, -ENOENT},
		{HEADER(DW_EH_PE_indirect | DW_EH_PE_udata4, 0, 0, 0x50), 12, -ENOENT},
		{HEADER(DW_EH_PE_indirect | DW_EH_PE_datarel | DW_EH_PE_udata4, 0, 1), 12, -ENOENT},
		{HEADER(DW_EH_PE_aligned, 0, 0, 0x50), 12, -ENOENT},
		{HEADER(DW_EH_PE_uleb128, 0x80, 0x80, 0xc0, 2), 12, -ENOENT},
		/* A pointer into no segment. */
		{HEADER(DW_EH_PE_udata4, 0, 0, 0x60), 12, -ENOENT},
		{HEADER(DW_EH_PE_udata8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), 12,
		 -ENOENT},
		/* A pointer to no call-frame information: a table without a row. */
		{HEADER(DW_EH_PE_udata4, 1, 0, 0x50), 12, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cfi_buffer buffer = {.size = 0};
		size_t cie = cfi_buffer__cie(&buffer, false);
		bool is_last = i == ARRAY_SIZE(cases) - 1;
		CLEANUP_FILE struct file file;

		add(&buffer, cie, START, 16, 16);
		make_headed(&file, &buffer, cases[i].bytes, cases[i].size);
		if (CHECK_INT(read_table(&file), cases[i].result) && !cases[i].result)
			CHECK_INT(cfa_at(&file, START), is_last ? NONE : 16);
	}
}

/* It ends by an entry without a length, or with its segment, which must be there. */
static void ends_without_section(void)
{
	static const unsigned char header[] = HEADER(DW_EH_PE_udata4, 0, 0, 0x50, 0);
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__cie(&buffer, false), end;
	CLEANUP_FILE struct file file;

	add(&buffer, cie, START, 16, 16);
	end = buffer.size;
	add(&buffer, cie, START + 16, 16, 24);
	cfi_buffer__word(&buffer, 0);
	add(&buffer, cie, START + 32, 16, 32);
	make_headed(&file, &buffer, header, sizeof(header));
	CHECK_INT(read_table(&file), 0);
	CHECK_INT(cfa_at(&file, START + 16), 24);
	CHECK_INT(cfa_at(&file, START + 32), NONE);
	unwind_table__release(&file.table);
	file.segments[1].size = end;
	CHECK_INT(read_table(&file), 0);
	CHECK_INT(cfa_at(&file, START), 16);
	CHECK_INT(cfa_at(&file, START + 16), NONE);
	unwind_table__release(&file.table);
	file.segments[1].size = file.file.size;
	CHECK_INT(read_table(&file), -EBADMSG);
	file.segments[1].size = UINT64_MAX;
	CHECK_INT(read_table(&file), -EBADMSG);
	file.segments[1].size = buffer.size;
	file.segments[1].offset = UINT64_MAX - 1;
	CHECK_INT(read_table(&file), -EBADMSG);
	file.segments[1].flags = 0;
	CHECK_INT(read_table(&file), -ENOENT);
	file.file.elf.eh_frame_header.offset = UINT64_MAX;
	CHECK_INT(read_table(&file), -ENOENT);
}

/* C code between functions in Go, at their edges, and inside them, where it is ignored. */
static void go_and_c(void)
{
	static const struct go_function functions[] = {
		{"main.a", 0x20, "\x02\x10\x20\x10", 0},
		{"c", 0x40, NULL, 0},
		{"main.b", 0x80, "\x02\x20", 0},
	};
	const struct go_image_spec spec = {
		.magic = GO_16, .functions = functions, .nr = 3, .end = 0xa0};
	CLEANUP(elf_image__free) struct elf_image image = go_image__make(&spec);
	struct cfi_buffer buffer = {.size = 0};
	const struct file_section sections[] = {
		{".eh_frame", buffer.bytes, sizeof(buffer.bytes), SHF_ALLOC},
		{".gopclntab", image.bytes + GO_TABLE_OFFSET, image.size - GO_TABLE_OFFSET,
		 SHF_ALLOC}};
	size_t cie = cfi_buffer__cie(&buffer, false);
	CLEANUP_FILE struct file file;

	add(&buffer, cie, GO_TEXT, 0x28, 32);
	add(&buffer, cie, GO_TEXT + 0x28, 8, 40);
	add(&buffer, cie, GO_TEXT + 0x40, 0x20, 48);
	add(&buffer, cie, GO_TEXT + 0x70, 0x40, 56);
	add(&buffer, cie, GO_TEXT + 0x100, 0x10, 64);
	make_of_sections(&file, sections, ARRAY_SIZE(sections));
	file.segments[0].address = GO_TEXT - 0x100;
	file.segments[0].offset = file.segments[0].address - DELTA;
	CHECK_INT(read_table(&file), 0);
	CHECK_INT(cfa_at(&file, GO_TEXT - 1), NONE);
	CHECK_INT(cfa_at(&file, GO_TEXT), 32);
	CHECK_INT(cfa_at(&file, GO_TEXT + 0x1f), 32);
	CHECK_INT(cfa_at(&file, GO_TEXT + 0x20), 8);
	CHECK_INT(cfa_at(&file, GO_TEXT + 0x2f), 8);
	CHECK_INT(cfa_at(&file, GO_TEXT + 0x30), 24);
	CHECK_INT(cfa_at(&file, GO_TEXT + 0x3f), 24);
	CHECK_INT(cfa_at(&file, GO_TEXT + 0x40), 48);
	CHECK_INT(cfa_at(&file, GO_TEXT + 0x5f), 48);
	CHECK_INT(cfa_at(&file, GO_TEXT + 0x60), NONE);
	CHECK_INT(cfa_at(&file, GO_TEXT + 0x70), 56);
	CHECK_INT(cfa_at(&file, GO_TEXT + 0x80), 8);
	CHECK_INT(cfa_at(&file, GO_TEXT + 0x9f), 8);
	CHECK_INT(cfa_at(&file, GO_TEXT + 0xa0), 56);
	CHECK_INT(cfa_at(&file, GO_TEXT + 0xb0), NONE);
	CHECK_INT(cfa_at(&file, GO_TEXT + 0x100), 64);
	CHECK_INT(cfa_at(&file, GO_TEXT + 0x110), NONE);
}

static void refused(void)
{
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__cie(&buffer, false);
	CLEANUP_FILE struct file file;
	uint64_t work = 0;

	add(&buffer, cie, START, 16, 16);
	make_file(&file, ".eh_frame", &buffer);
	file.segments[0].size = 0;
	CHECK_INT(read_table(&file), -ENOENT);
	file.segments[0].size = (uint64_t)2 << 30;
	CHECK_INT(read_table(&file), -EFBIG);
	file.segments[0].size = UINT64_MAX;
	CHECK_INT(read_table(&file), -EFBIG);
	file.segments[0].size = SIZE;
	file.segments[0].offset = UINT64_MAX - SIZE + 1;
	CHECK_INT(read_table(&file), -EFBIG);
	file.segments[0].offset = START - DELTA;
	for (size_t i = 1; i < ARRAY_SIZE(file.segments); i++)
		file.segments[i] = file.segments[0];
	file.file.elf.nr_segments = ARRAY_SIZE(file.segments);
	CHECK_INT(read_table(&file), -EFBIG);
	file.file.elf.nr_segments = 1;
	file.segments[0].flags = PF_R;
	CHECK_INT(read_table(&file), -ENOENT);
	file.segments[0].flags = PF_X;
	CHECK_INT(unwind_table__read(&file.table, &file.rules, &file.file.elf, &work), -EFBIG);
	file.file.elf.machine = EM_S390;
	CHECK_INT(read_table(&file), -ENOTSUP);
	CHECK(file.table.pages == NULL);
}

static const struct tap_test tests[] = {
	{"where a program begins", entry},
	{"_init(), which has no call-frame information", init},
	{"rules from page to page", across_pages},
	{"the base register is kept of files that need it", base_where_needed},
	{"rows side by side with the same rule are one", rows_of_one_rule},
	{"stubs of arm64", stubs},
	{"stubs without a header, and those of x86-64", other_stubs},
	{"code in several places of the file", scattered},
	{"bytes of the file that are at two addresses", mapped_twice},
	{"what is no code has no rows", outside_of_code},
	{"a file without call-frame information", no_section},
	{"that of a debugger", debug_frame},
	{"that of a debugger, where .eh_frame says nothing", both},
	{"that of a debugger, which cannot be read", second_is_damaged},
	{"that of a debugger, which is too much work", second_is_much_work},
	{"a program without section headers", no_section_headers},
	{"what leads to call-frame information without sections", headers},
	{"where it ends then", ends_without_section},
	{"a Go program with C in it", go_and_c},
	{"files that are not read", refused},
};

int main(void)
{
	return TAP_RUN(tests);
}
