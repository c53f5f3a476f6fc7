// SPDX-License-Identifier: GPL-2.0-or-later
/* A package of two units, whose second one collides with the first in the index. */
#include "sym/dwarf/package.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/section_file.h"
#include "test/unit/tap.h"

#define FIRST	0x100000001
#define SECOND	0x300000001 /* the same slot, and from there three on */
#define NO_UNIT 0x500000001
#define SLOTS	4
#define COLUMNS 4
#define UNITS	2
#define WORK	1000

struct index {
	uint32_t version, columns, units, slots;
	uint64_t ids[SLOTS];
	uint32_t rows[SLOTS];
	uint32_t kinds[COLUMNS];
	uint32_t offsets[UNITS][COLUMNS], sizes[UNITS][COLUMNS];
};

static const char info[] = "the entries of one, and of the other.", abbrev[] = "their kinds",
		  strings[] = "zero\0one\0two\0three";
#define FIRST_INFO   19
#define FIRST_ABBREV 5

static const uint32_t offsets[] = {5, 9, 13, 0, UINT32_MAX, 13};

static struct index plain_index(void)
{
	return (struct index){
		.version = 2,
		.columns = COLUMNS,
		.units = UNITS,
		.slots = SLOTS,
		.ids = {[1] = FIRST, [0] = SECOND},
		.rows = {[1] = 1, [0] = 2},
		/* The one of which nobody knows is that of locations. */
		.kinds = {6, 1, 5, 3},
		.offsets = {{0, 0, 77, 0}, {8, FIRST_INFO, 99, FIRST_ABBREV}},
		.sizes = {{8, FIRST_INFO, UINT32_MAX, FIRST_ABBREV},
			  {16, sizeof(info) - FIRST_INFO, 1, sizeof(abbrev) - FIRST_ABBREV}}};
}

struct subject {
	struct section_file file;
	struct debug_package package;
	struct debug_plan plan;
	struct debug_strings strings;
};

static void release(struct subject *subject)
{
	debug_strings__release(&subject->strings);
	debug_package__release(&subject->package);
	section_file__close(&subject->file);
}

static void make(struct subject *subject, const struct index *index, size_t size)
{
	const struct file_section sections[] = {
		{".debug_info.dwo", info, sizeof(info), 0},
		{".debug_abbrev.dwo", abbrev, sizeof(abbrev), 0},
		{".debug_str_offsets.dwo", offsets, sizeof(offsets), 0},
		{".debug_str.dwo", strings, sizeof(strings), 0},
		{".debug_cu_index", index, size, 0}};

	section_file__make(&subject->file, sections, size ? 5 : 4);
	section_file__open(&subject->file);
	subject->package.elf = &subject->file.elf;
}

static int plan(struct subject *subject, uint64_t id)
{
	uint64_t work = WORK;

	return debug_package__plan(&subject->package, id, &subject->plan, &subject->strings, &work);
}

/* Those bytes are in the image of what was planned. */
static void check_image(const struct subject *subject, const char *entries, size_t entries_size,
			const char *kinds, size_t kinds_size)
{
	struct debug_image image = {0};
	uint64_t work = WORK;

	if (!CHECK_INT(debug_image__load(&image, &subject->plan, &work), 0))
		return;
	CHECK_INT(image.sections[DEBUG_INFO].size, entries_size);
	CHECK(!memcmp(image.sections[DEBUG_INFO].bytes, entries, entries_size));
	CHECK_INT(image.sections[DEBUG_ABBREV].size, kinds_size);
	CHECK(!memcmp(image.sections[DEBUG_ABBREV].bytes, kinds, kinds_size));
	CHECK_INT(image.sections[DEBUG_STR].size, 0);
	debug_image__release(&image);
}

static const char *string(struct subject *subject, unsigned int form, const void *bytes,
			  size_t size)
{
	Dwarf_Attribute attribute = {.form = form, .valp = (unsigned char *)bytes};
	uint64_t left = WORK;
	const struct work work = work__share(&left, left);
	const char *found;

	subject->strings.end = attribute.valp + size;
	found = debug_strings__get(&subject->strings, &attribute, &work);
	return found ? found : "NULL";
}

static const char *string_at(struct subject *subject, unsigned char index)
{
	return string(subject, DW_FORM_strx1, &index, 1);
}

static void check_units(struct subject *subject)
{
	CHECK_INT(plan(subject, FIRST), 0);
	check_image(subject, info, FIRST_INFO, abbrev, FIRST_ABBREV);
	CHECK_STR(string_at(subject, 0), "one");
	CHECK_STR(string_at(subject, 1), "two");
	CHECK_STR(string_at(subject, 2), "NULL");
	debug_strings__release(&subject->strings);
	CHECK_INT(plan(subject, SECOND), 0);
	check_image(subject, info + FIRST_INFO, sizeof(info) - FIRST_INFO, abbrev + FIRST_ABBREV,
		    sizeof(abbrev) - FIRST_ABBREV);
	CHECK_STR(string_at(subject, 0), "three");
	CHECK_STR(string_at(subject, 1), "zero");
	CHECK_STR(string_at(subject, 2), "");
	CHECK_STR(string_at(subject, 3), "three");
	CHECK_STR(string_at(subject, 4), "NULL");
	CHECK_INT(subject->strings.size, 6 + 5 + 1 + 6);
	CHECK_INT(plan(subject, NO_UNIT), -ENOENT);
	CHECK_INT(plan(subject, 0), -ENOENT);
}

static void units(void)
{
	CLEANUP(release) struct subject subject = {.file.elf.fd = -1};
	const struct index index = plain_index();

	make(&subject, &index, sizeof(index));
	check_units(&subject);
}

static void forms_of_indices(void)
{
	CLEANUP(release) struct subject subject = {.file.elf.fd = -1};
	static const unsigned char one[] = {1, 0, 0, 0}, padded[] = {0x81, 0x80, 0},
				   endless[] = {0x81, 0x80};
	const struct index index = plain_index();

	make(&subject, &index, sizeof(index));
	CHECK_INT(plan(&subject, FIRST), 0);
	CHECK_STR(string(&subject, DW_FORM_strx, one, 1), "two");
	CHECK_STR(string(&subject, DW_FORM_strx, padded, 3), "two");
	CHECK_STR(string(&subject, DW_FORM_GNU_str_index, one, 1), "two");
	CHECK_STR(string(&subject, DW_FORM_strx2, one, 2), "two");
	CHECK_STR(string(&subject, DW_FORM_strx3, one, 3), "two");
	CHECK_STR(string(&subject, DW_FORM_strx4, one, 4), "two");
	CHECK_STR(string(&subject, DW_FORM_strx4, one, 3), "NULL");
	CHECK_STR(string(&subject, DW_FORM_strx, endless, 2), "NULL");
}

/* In version 5, a header of 8 or 16 bytes stands in front of the offsets. */
static void version_5(void)
{
	CLEANUP(release) struct subject subject = {.file.elf.fd = -1};
	struct index index = plain_index();

	index.version = 5;
	make(&subject, &index, sizeof(index));
	CHECK_INT(plan(&subject, FIRST), 0);
	CHECK_STR(string_at(&subject, 0), "NULL");
	CHECK_INT(plan(&subject, SECOND), 0);
	CHECK_STR(string_at(&subject, 0), "");
	CHECK_STR(string_at(&subject, 1), "three");
	CHECK_STR(string_at(&subject, 2), "NULL");
}

static void wide_offsets(void)
{
	CLEANUP(release) struct subject subject = {.file.elf.fd = -1};
	static const uint32_t wide[] = {UINT32_MAX, 12, 0, 5, 5, 0};
	struct index index = plain_index();
	const struct file_section sections[] = {{".debug_info.dwo", info, sizeof(info), 0},
						{".debug_abbrev.dwo", abbrev, sizeof(abbrev), 0},
						{".debug_str_offsets.dwo", wide, sizeof(wide), 0},
						{".debug_str.dwo", strings, sizeof(strings), 0},
						{".debug_cu_index", &index, sizeof(index), 0}};

	index.version = 5;
	index.sizes[0][0] = sizeof(wide);
	section_file__make(&subject.file, sections, ARRAY_SIZE(sections));
	section_file__open(&subject.file);
	subject.package.elf = &subject.file.elf;
	CHECK_INT(plan(&subject, FIRST), 0);
	CHECK_STR(string_at(&subject, 0), "one");
	CHECK_STR(string_at(&subject, 1), "NULL");
}

/* Returns a section of that, to be freed. */
static struct file_section compress_section(const char *name, const void *bytes, size_t size)
{
	unsigned char *compressed = malloc(sizeof(Elf64_Chdr) + compressBound(size));
	Elf64_Chdr header = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = size, .ch_addralign = 1};
	uLongf room = compressBound(size);

	if (!compressed)
		abort();
	memcpy(compressed, &header, sizeof(header));
	CHECK_INT(compress(compressed + sizeof(header), &room, bytes, size), Z_OK);
	return (struct file_section){name, compressed, sizeof(header) + room, SHF_COMPRESSED};
}

static void compressed_sections(void)
{
	CLEANUP(release) struct subject subject = {.file.elf.fd = -1};
	const struct index index = plain_index();
	const struct file_section sections[] = {
		compress_section(".debug_info.dwo", info, sizeof(info)),
		compress_section(".debug_abbrev.dwo", abbrev, sizeof(abbrev)),
		compress_section(".debug_str_offsets.dwo", offsets, sizeof(offsets)),
		compress_section(".debug_str.dwo", strings, sizeof(strings)),
		compress_section(".debug_cu_index", &index, sizeof(index))};

	section_file__make(&subject.file, sections, ARRAY_SIZE(sections));
	section_file__open(&subject.file);
	subject.package.elf = &subject.file.elf;
	check_units(&subject);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		free((void *)sections[i].bytes);
}

static void check_damage(const struct index *index, size_t size, uint64_t id, int expected,
			 int line)
{
	CLEANUP(release) struct subject subject = {.file.elf.fd = -1};

	make(&subject, index, size);
	tap_check_int(plan(&subject, id), expected, __FILE__, line, "a damaged index");
	/* Once more, by what is known. */
	tap_check_int(plan(&subject, id), expected, __FILE__, line, "a damaged index again");
}

#define CHECK_DAMAGE(damage, id, expected)                                                         \
	({                                                                                         \
		struct index index = plain_index();                                                \
                                                                                                   \
		damage;                                                                            \
		check_damage(&index, sizeof(index), id, expected, __LINE__);                       \
	})

static void damaged_headers(void)
{
	const struct index whole = plain_index();

	for (size_t size = 1; size < sizeof(whole); size++)
		check_damage(&whole, size, FIRST, -EBADMSG, __LINE__);
	check_damage(&whole, 0, FIRST, -ENOENT, __LINE__);
	CHECK_DAMAGE(index.version = 3, FIRST, -EBADMSG);
	CHECK_DAMAGE(index.version = 0x10002, FIRST, -EBADMSG);
	CHECK_DAMAGE(index.columns = 0, FIRST, -ENOENT);
	CHECK_DAMAGE(index.columns = 17, FIRST, -EBADMSG);
	CHECK_DAMAGE(index.columns = UINT32_MAX, FIRST, -EBADMSG);
	CHECK_DAMAGE(index.units = 3, FIRST, -EBADMSG);
	CHECK_DAMAGE(index.units = UINT32_MAX, FIRST, -EBADMSG);
	CHECK_DAMAGE(index.slots = 0, FIRST, -ENOENT);
	CHECK_DAMAGE(index.slots = 3, FIRST, -EBADMSG);
	CHECK_DAMAGE(index.slots = 8, FIRST, -EBADMSG);
	CHECK_DAMAGE(index.slots = 1U << 31, FIRST, -EBADMSG);
}

static void fill(struct index *index)
{
	for (size_t i = 0; i < SLOTS; i++) {
		index->ids[i] = i;
		index->rows[i] = 1;
	}
}

static void damaged_rows(void)
{
	CHECK_DAMAGE(index.rows[1] = 0, FIRST, -ENOENT);
	CHECK_DAMAGE(index.rows[1] = 3, FIRST, -EBADMSG);
	CHECK_DAMAGE(index.rows[1] = UINT32_MAX, FIRST, -EBADMSG);
	/* No slot is free to end the search. */
	CHECK_DAMAGE(fill(&index), NO_UNIT, -ENOENT);
	CHECK_DAMAGE(index.kinds[1] = 2, FIRST, -ENOENT);
	CHECK_DAMAGE(index.kinds[3] = UINT32_MAX, FIRST, -ENOENT);
	CHECK_DAMAGE(index.offsets[0][1] = UINT32_MAX, FIRST, -EBADMSG);
	CHECK_DAMAGE(index.sizes[0][1] = UINT32_MAX, FIRST, -EBADMSG);
	CHECK_DAMAGE(index.sizes[1][1]++, SECOND, -EBADMSG);
	CHECK_DAMAGE(index.sizes[1][0] += 4, SECOND, -EBADMSG);
	CHECK_DAMAGE(index.sizes[0][1] = 0, FIRST, -ENOENT);
}

static void search_without_work(void)
{
	CLEANUP(release) struct subject subject = {.file.elf.fd = -1};
	const struct index index = plain_index();
	uint64_t work = 0;

	make(&subject, &index, sizeof(index));
	CHECK_INT(debug_package__plan(&subject.package, FIRST, &subject.plan, &subject.strings,
				      &work),
		  -ENOENT);
	CHECK_INT(plan(&subject, FIRST), 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"each unit has its parts of all sections", units},
		{"strings by each form of index", forms_of_indices},
		{"version 5: a header in front of offsets", version_5},
		{"offsets of 64 bits", wide_offsets},
		{"sections that are compressed", compressed_sections},
		{"indices that are cut, or have odd sizes", damaged_headers},
		{"rows that lead nowhere", damaged_rows},
		{"a search ends without work", search_without_work},
	};

	return TAP_RUN(tests);
}
