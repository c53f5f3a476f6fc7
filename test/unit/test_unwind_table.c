// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/unwind_table.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/util/array.h"
#include "core/util/cleanup.h"
#include "test/unit/cfi_bytes.h"
#include "test/unit/go_image.h"
#include "test/unit/section_file.h"
#include "test/unit/tap.h"

#define PAGE  0x10000
#define START (0x400000 + PAGE / 2) /* of the code, which has four pages in part */
#define SIZE  (3 * PAGE)

/* A file with that .eh_frame, and code from START on. */
struct file {
	struct section_file file;
	struct elf_segment segments[2];
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
	file->segments[0] = (struct elf_segment){
		.address = START, .size = SIZE, .memory = SIZE, .flags = PF_R | PF_X};
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

/* The offset of the CFA at an address, or -1 - its kind if that is none. */
static int cfa_at(const struct file *file, uint64_t address)
{
	uint32_t number = unwind_table__find(&file->table, address);
	const struct unwind_rule *rule;

	if (number >= file->rules.nr)
		return -100;
	rule = &file->rules.items[number];
	return rule->cfa == UNWIND_REGISTER ? rule->cfa_offset : -1 - rule->cfa;
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

	/* One from page to page, one that begins with a page, one in the last byte of the code. */
	add(&buffer, cie, START + 16, PAGE, 16);
	add(&buffer, cie, 0x420000, 16, 24);
	add(&buffer, cie, START + SIZE - 1, 1, 32);
	make_file(&file, ".eh_frame", &buffer);
	CHECK_INT(read_table(&file), 0);
	CHECK_INT(file.table.start, 0x400000);
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

static void rows_of_one_rule(void)
{
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__cie(&buffer, false);
	CLEANUP_FILE struct file file;

	for (uint64_t i = 0; i < 8; i++)
		add(&buffer, cie, START + i * 16, 16, 16);
	/* One that ends with the page, and one that goes on with the next. */
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
	/* Of a second file they are the same. */
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

/* As it stands in files without .eh_frame, those that Go makes for one. */
static void debug_frame(void)
{
	static const unsigned char cie[] = {
		1, 0, 1, 0x78, 16, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1, 0};
	static const uint64_t range[] = {START + 16, 32};
	static const unsigned char fde[] = {DW_CFA_def_cfa_offset, 48, 0, 0};
	struct cfi_buffer buffer = {.size = 0};
	CLEANUP_FILE struct file file;

	cfi_buffer__word(&buffer, 4 + sizeof(cie));
	cfi_buffer__word(&buffer, UINT32_MAX);
	cfi_buffer__put(&buffer, cie, sizeof(cie));
	cfi_buffer__word(&buffer, 4 + sizeof(range) + sizeof(fde));
	cfi_buffer__word(&buffer, 0);
	cfi_buffer__put(&buffer, range, sizeof(range));
	cfi_buffer__put(&buffer, fde, sizeof(fde));
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

/* C code between functions in Go, at their edges, and where they are, which is ignored. */
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
	file.segments[0].flags = PF_R;
	CHECK_INT(read_table(&file), -ENOENT);
	file.segments[0].flags = PF_X;
	CHECK_INT(unwind_table__read(&file.table, &file.rules, &file.file.elf, &work), -EFBIG);
	file.file.elf.machine = EM_S390;
	CHECK_INT(read_table(&file), -ENOTSUP);
	CHECK(file.table.pages == NULL);
}

static void many_rules(void)
{
	CLEANUP(unwind_rules__release) struct unwind_rules rules = {0};
	struct unwind_rule rule = {.cfa = UNWIND_REGISTER};

	CHECK_INT(unwind_rules__init(&rules), 0);
	for (int i = 3; i < UNWIND_RULES; i++) {
		rule.cfa_offset = i * 8;
		if (!CHECK_INT(unwind_rules__number(&rules, &rule), i))
			return;
	}
	CHECK_INT(unwind_rules__number(&rules, &rule), UNWIND_RULES - 1);
	rule.cfa_offset = 8;
	CHECK_INT(unwind_rules__number(&rules, &rule), UNWIND_UNSUPPORTED);
	CHECK_INT(unwind_rules__number(&rules, &(struct unwind_rule){.cfa = UNWIND_NONE}), 0);
	CHECK_INT(unwind_rules__number(&rules, &(struct unwind_rule){.cfa = UNWIND_END}),
		  UNWIND_END);
}

static const struct tap_test tests[] = {
	{"where a program begins", entry},
	{"rules from page to page", across_pages},
	{"rows side by side with the same rule are one", rows_of_one_rule},
	{"what is no code has no rows", outside_of_code},
	{"a file without call-frame information", no_section},
	{"that of a debugger", debug_frame},
	{"a Go program with C in it", go_and_c},
	{"files that are not read", refused},
	{"rules beyond the bound are not supported", many_rules},
};

int main(void)
{
	return TAP_RUN(tests);
}
