// SPDX-License-Identifier: GPL-2.0-or-later
/* Line tables, byte by byte. */
#include "sym/dwarf/lines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/dwarf/image.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

#define LINE_BASE   (-3)
#define LINE_RANGE  12
#define OPCODE_BASE 13

/* The opcode that adds to the address and to the line, and makes a row. */
#define SPECIAL(address, line) ((address)*LINE_RANGE + (line)-LINE_BASE + OPCODE_BASE)
#define SET_ADDRESS(low, high) 0, 9, DW_LNE_set_address, low, high, 0, 0, 0, 0, 0, 0
#define END_SEQUENCE	       0, 1, DW_LNE_end_sequence

struct table {
	unsigned char bytes[4096];
	size_t size;
};

static void put(struct table *table, const void *bytes, size_t size)
{
	memcpy(table->bytes + table->size, bytes, size);
	table->size += size;
}

static void put_number(struct table *table, uint64_t number, size_t size)
{
	if (size == 8)
		put(table, &number, 8);
	else if (size == 4)
		put(table, &(uint32_t){(uint32_t)number}, 4);
	else if (size == 2)
		put(table, &(uint16_t){(uint16_t)number}, 2);
	else
		put(table, &(uint8_t){(uint8_t)number}, 1);
}

static const unsigned char old_names[] = "sub\0/absolute\0\0" /* folders 1 and 2 */
					 "main.c\0\0\0\0"     /* files 1 to 4 */
					 "sub.h\0\1\0\0"
					 "other.h\0\2\0\0"
					 "/full/path.h\0\1\0\0"
					 "lost.h\0\11\0\0";

/* Folders, as strings; files, as offsets into .debug_line_str, with the numbers of folders. */
static const unsigned char names_5[] = {1,
					DW_LNCT_path,
					DW_FORM_string,
					2,
					'/',
					'c',
					0,
					's',
					'u',
					'b',
					0,
					2,
					DW_LNCT_path,
					DW_FORM_line_strp,
					DW_LNCT_directory_index,
					DW_FORM_data1,
					2,
					0,
					0,
					0,
					0,
					0,
					7,
					0,
					0,
					0,
					1};
static const char line_strings[] = "main.c\0sub.h";

/* A table of the version, with the program given. */
static void make_table(struct table *table, unsigned int version, bool is_64bit,
		       const unsigned char *program, size_t size)
{
	static const unsigned char lengths[OPCODE_BASE - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	const size_t offset_size = is_64bit ? 8 : 4;
	size_t length_at, header_at;
	uint64_t length;

	*table = (struct table){.size = 0};
	if (is_64bit)
		put_number(table, 0xffffffff, 4);
	length_at = table->size;
	put_number(table, 0, offset_size);
	put_number(table, version, 2);
	if (version == 5)
		put(table, "\10\0", 2);
	header_at = table->size;
	put_number(table, 0, offset_size);
	put_number(table, 1, 1);
	if (version >= 4)
		put_number(table, 1, 1);
	put_number(table, 1, 1);
	put_number(table, (uint64_t)LINE_BASE, 1);
	put_number(table, LINE_RANGE, 1);
	put_number(table, OPCODE_BASE, 1);
	put(table, lengths, sizeof(lengths));
	if (version < 5)
		put(table, old_names, sizeof(old_names));
	else
		put(table, names_5, sizeof(names_5));
	length = table->size - header_at - offset_size;
	memcpy(table->bytes + header_at, &length, offset_size);
	put(table, program, size);
	length = table->size - length_at - offset_size;
	memcpy(table->bytes + length_at, &length, offset_size);
}

static int open_table(struct debug_lines *lines, struct debug_image *image,
		      const struct table *table, uint64_t *left)
{
	const struct work work = work__share(left, *left);

	*image = (struct debug_image){0};
	image->sections[DEBUG_LINE] =
		(struct debug_bytes){.bytes = table->bytes, .size = table->size};
	image->sections[DEBUG_LINE_STR] = (struct debug_bytes){
		.bytes = (const unsigned char *)line_strings, .size = sizeof(line_strings)};
	return debug_lines__open(lines, image, 0, 8, "/c", &work);
}

struct expected {
	uint64_t address;
	uint32_t line; /* 0: none is found */
	uint64_t file;
};

static void check_rows(const struct table *table, const struct expected *expected, size_t nr)
{
	CLEANUP(debug_lines__release) struct debug_lines lines = {0};
	CLEANUP_FREE struct debug_row *rows = calloc(nr, sizeof(*rows));
	struct debug_image image;
	uint64_t left = 1000;
	const struct work work = work__share(&left, left);

	if (!CHECK_INT(open_table(&lines, &image, table, &left), 0))
		return;
	for (size_t i = 0; i < nr; i++)
		rows[i].address = expected[i].address;
	debug_lines__find(&lines, rows, nr, &work);
	for (size_t i = 0; i < nr; i++)
		tap_check(rows[i].found == (expected[i].line > 0) &&
				  rows[i].line == expected[i].line &&
				  (!rows[i].found || rows[i].file == expected[i].file),
			  __FILE__, __LINE__, "%#llx: found %d, line %u of file %llu, expected %u",
			  (unsigned long long)rows[i].address, rows[i].found, rows[i].line,
			  (unsigned long long)rows[i].file, expected[i].line);
}

static void all_versions(void)
{
	static const unsigned char simple[] = {SET_ADDRESS(0, 0x10),
					       DW_LNS_copy,
					       SPECIAL(4, 2),
					       DW_LNS_set_file,
					       2,
					       DW_LNS_advance_line,
					       0xe4,
					       0,
					       DW_LNS_advance_pc,
					       0x90,
					       1,
					       DW_LNS_copy,
					       DW_LNS_const_add_pc,
					       DW_LNS_fixed_advance_pc,
					       0,
					       1,
					       DW_LNS_advance_line,
					       0x7f,
					       DW_LNS_negate_stmt,
					       DW_LNS_set_column,
					       7,
					       DW_LNS_set_prologue_end,
					       DW_LNS_set_isa,
					       1,
					       DW_LNS_copy,
					       DW_LNS_advance_pc,
					       1,
					       END_SEQUENCE};
	static const struct expected expected[] = {
		{0xfff, 0, 0},	  {0x1000, 1, 1},   {0x1003, 1, 1},
		{0x1004, 3, 1},	  {0x1093, 3, 1},   {0x1094, 103, 2},
		{0x11a7, 103, 2}, {0x11a8, 102, 2}, {0x11a9, 0, 0}};

	for (unsigned int version = 2; version <= 5; version++) {
		struct table table;

		make_table(&table, version, false, simple, sizeof(simple));
		check_rows(&table, expected, ARRAY_SIZE(expected));
		make_table(&table, version, true, simple, sizeof(simple));
		check_rows(&table, expected, ARRAY_SIZE(expected));
	}
}

static void many_sequences(void)
{
	static const unsigned char program[] = {
		/* A function that the linker dropped; it would be everywhere. */
		SET_ADDRESS(0, 0), DW_LNS_copy, DW_LNS_advance_pc, 0xff, 0xff, 3, END_SEQUENCE,
		/* Behind, in front of, and across each other. */
		SET_ADDRESS(0, 0x20), SPECIAL(0, 5), DW_LNS_advance_pc, 16, END_SEQUENCE,
		SET_ADDRESS(0, 0x10), SPECIAL(0, 6), DW_LNS_advance_pc, 16, END_SEQUENCE,
		SET_ADDRESS(8, 0x20), SPECIAL(0, 7), DW_LNS_advance_pc, 16, END_SEQUENCE,
		/* Back within a sequence, which is as good as another one. */
		SET_ADDRESS(0, 0x40), SPECIAL(0, 8), SET_ADDRESS(0, 0x30), SPECIAL(0, 1),
		SPECIAL(8, 0), END_SEQUENCE,
		/* Without an end. */
		SET_ADDRESS(0, 0x50), SPECIAL(0, 8), SPECIAL(8, 0)};
	static const struct expected expected[] = {
		{0, 0, 0},	{0x800, 0, 0},	{0x1000, 7, 1},	 {0x100f, 7, 1},
		{0x1010, 0, 0}, {0x2000, 6, 1}, {0x200f, 6, 1},	 {0x2010, 8, 1},
		{0x2017, 8, 1}, {0x2018, 0, 0}, {0x3000, 10, 1}, {0x3007, 10, 1},
		{0x3008, 0, 0}, {0x4000, 0, 0}, {0x5007, 9, 1},	 {0x5008, 0, 0}};
	struct table table;

	make_table(&table, 4, false, program, sizeof(program));
	check_rows(&table, expected, ARRAY_SIZE(expected));
}

static void unknown_opcodes(void)
{
	static const unsigned char program[] = {0,
						3,
						0x80,
						1,
						2,
						SET_ADDRESS(0, 0x10),
						0,
						3,
						DW_LNE_set_discriminator,
						5,
						0,
						DW_LNS_copy,
						12,
						0xff,
						1,
						SPECIAL(1, 1),
						DW_LNS_advance_pc,
						4,
						END_SEQUENCE};
	static const struct expected expected[] = {{0x1000, 1, 1}, {0x1001, 2, 1}, {0x1005, 0, 0}};
	struct table table;

	make_table(&table, 4, false, program, sizeof(program));
	check_rows(&table, expected, ARRAY_SIZE(expected));
}

static void check_paths(unsigned int version, const char *const *paths, size_t nr)
{
	CLEANUP(debug_lines__release) struct debug_lines lines = {0};
	struct debug_image image;
	struct table table;
	uint64_t left = 1000;

	make_table(&table, version, false, (const unsigned char *)"", 0);
	if (!CHECK_INT(open_table(&lines, &image, &table, &left), 0))
		return;
	for (size_t i = 0; i < nr; i++) {
		const char *path = debug_lines__path(&lines, i);

		CHECK_STR(path ? path : "NULL", paths[i] ? paths[i] : "NULL");
		CHECK(debug_lines__path(&lines, i) == path);
	}
	CHECK(debug_lines__path(&lines, nr) == NULL);
	CHECK(debug_lines__path(&lines, UINT64_MAX) == NULL);
}

static void paths(void)
{
	static const char *const old[] = {NULL,		  "/c/main.c",
					  "/c/sub/sub.h", "/absolute/other.h",
					  "/full/path.h", "/c/lost.h"};
	static const char *const new[] = {"/c/main.c", "/c/sub/sub.h"};

	for (unsigned int version = 2; version <= 4; version++)
		check_paths(version, old, ARRAY_SIZE(old));
	check_paths(5, new, ARRAY_SIZE(new));
}

/* Tables end, wherever they are cut off, and whatever a byte is changed to. */
static void spoilt_tables(void)
{
	static const unsigned char program[] = {SET_ADDRESS(0, 0x10), DW_LNS_copy, SPECIAL(4, 2),
						DW_LNS_advance_pc,    16,	   END_SEQUENCE};
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};

	for (unsigned int version = 4; version <= 5; version++) {
		struct table good, bad;

		make_table(&good, version, false, program, sizeof(program));
		for (size_t i = 0; i < 2 * good.size * ARRAY_SIZE(values); i++) {
			struct debug_lines lines = {0};
			struct debug_row rows[] = {{.address = 0x1000}, {.address = 0x1005}};
			struct debug_image image;
			uint64_t left = 100000;
			const struct work work = work__share(&left, left);

			bad = good;
			if (i < good.size * ARRAY_SIZE(values))
				bad.bytes[i / ARRAY_SIZE(values)] = values[i % ARRAY_SIZE(values)];
			else
				bad.size = i % good.size;
			if (open_table(&lines, &image, &bad, &left))
				continue;
			debug_lines__find(&lines, rows, ARRAY_SIZE(rows), &work);
			for (uint64_t file = 0; file < 10; file++)
				debug_lines__path(&lines, file);
			debug_lines__release(&lines);
		}
	}
}

/* A million entries that take no bytes, and a program without rows. */
static void without_work(void)
{
	static const unsigned char program[1000] = {SET_ADDRESS(0, 0x10), DW_LNS_copy};
	struct debug_lines lines = {0};
	struct debug_image image;
	struct debug_row row = {.address = 0x1000};
	struct table table;
	uint64_t left = 3, none = 0;
	const struct work no_work = work__share(&none, 0);

	make_table(&table, 4, false, program, sizeof(program));
	CHECK_INT(open_table(&lines, &image, &table, &left), -EFBIG);
	left = 1000;
	if (!CHECK_INT(open_table(&lines, &image, &table, &left), 0))
		return;
	debug_lines__find(&lines, &row, 1, &no_work);
	CHECK(!row.found);
	debug_lines__release(&lines);
	CHECK_INT(debug_lines__open(&lines, &image, table.size, 8, NULL, &no_work), -EBADMSG);
	CHECK_INT(debug_lines__open(&lines, &image, UINT64_MAX, 8, NULL, &no_work), -EBADMSG);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"tables of all versions", all_versions},
		{"sequences in any order, and dropped ones", many_sequences},
		{"opcodes that are not known are skipped", unknown_opcodes},
		{"paths are put together from their folders", paths},
		{"tables that are spoilt", spoilt_tables},
		{"tables beyond the work that is left", without_work},
	};

	return TAP_RUN(tests);
}
