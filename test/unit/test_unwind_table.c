// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/unwind_table.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/util/array.h"
#include "core/util/cleanup.h"
#include "test/unit/cfi_bytes.h"
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

static void make_file(struct file *file, const char *section, const struct cfi_buffer *buffer)
{
	const struct file_section sections[] = {{section, buffer->bytes, buffer->size, SHF_ALLOC}};

	*file = (struct file){.file.elf.fd = -1};
	section_file__make(&file->file, sections, ARRAY_SIZE(sections));
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
	for (int i = 3; i < UNWIND_RULES_MAX; i++) {
		rule.cfa_offset = i * 8;
		if (!CHECK_INT(unwind_rules__number(&rules, &rule), i))
			return;
	}
	CHECK_INT(unwind_rules__number(&rules, &rule), UNWIND_RULES_MAX - 1);
	rule.cfa_offset = 8;
	CHECK_INT(unwind_rules__number(&rules, &rule), UNWIND_UNSUPPORTED);
	CHECK_INT(unwind_rules__number(&rules, &(struct unwind_rule){.cfa = UNWIND_NONE}), 0);
	CHECK_INT(unwind_rules__number(&rules, &(struct unwind_rule){.cfa = UNWIND_END}),
		  UNWIND_END);
}

static const struct tap_test tests[] = {
	{"rules from page to page", across_pages},
	{"rows side by side with the same rule are one", rows_of_one_rule},
	{"what is no code has no rows", outside_of_code},
	{"a file without call-frame information", no_section},
	{"that of a debugger", debug_frame},
	{"files that are not read", refused},
	{"rules beyond the bound are not supported", many_rules},
};

int main(void)
{
	return TAP_RUN(tests);
}
