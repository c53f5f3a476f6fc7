// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/dwarf/image.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "sym/elf/file.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/section_file.h"
#include "test/unit/tap.h"

#define INFO_SIZE ((size_t)200 * 1000)

/* Enough for libdw to begin: nobody looks into it. */
static const unsigned char abbreviations[] = {1, 0x11, 0, 0, 0, 0};

/* Bytes that compress somewhat. */
static unsigned char *make_info(void)
{
	unsigned char *info = malloc(INFO_SIZE);
	uint32_t state = 1;

	for (size_t i = 0; i < INFO_SIZE; i++) {
		state = state * 1103515245 + 12345;
		info[i] = (unsigned char)(state >> 24 & 15);
	}
	return info;
}

static int plan_file(struct section_file *file, const struct file_section *sections, size_t nr,
		     struct debug_plan *plan)
{
	section_file__make(file, sections, nr);
	section_file__open(file);
	return debug_plan__make(plan, &file->elf, false);
}

/* Check that the image of a file with this section for .debug_info has those bytes. */
static void check_info(const struct file_section *section, const unsigned char *info, size_t size)
{
	const struct file_section sections[] = {
		*section, {".debug_abbrev", abbreviations, sizeof(abbreviations), 0}};
	CLEANUP(section_file__close) struct section_file file = {.elf.fd = -1};
	CLEANUP(debug_image__release) struct debug_image image = {0};
	struct debug_plan plan;
	uint64_t work = 1000;

	if (!CHECK_INT(plan_file(&file, sections, ARRAY_SIZE(sections), &plan), 0) ||
	    !CHECK_INT(debug_image__load(&image, &plan, &work), 0))
		return;
	CHECK_INT(image.sections[DEBUG_INFO].size, size);
	CHECK(!memcmp(image.sections[DEBUG_INFO].bytes, info, size));
	CHECK_INT(image.sections[DEBUG_ABBREV].size, sizeof(abbreviations));
	CHECK(!memcmp(image.sections[DEBUG_ABBREV].bytes, abbreviations, sizeof(abbreviations)));
	/* Strings end, whatever the section ends in. */
	CHECK_INT(image.sections[DEBUG_INFO].bytes[size], 0);
	CHECK(image.dwarf != NULL);
}

/* A section with the header of its form. */
struct compressed {
	unsigned char bytes[2 * INFO_SIZE];
	size_t size;
};

static struct compressed *compress_info(const unsigned char *info, uint32_t type)
{
	struct compressed *compressed = malloc(sizeof(*compressed));
	Elf64_Chdr header = {.ch_type = type, .ch_size = INFO_SIZE, .ch_addralign = 1};
	unsigned char *to = compressed->bytes + sizeof(header);
	uLongf room = INFO_SIZE;

	memcpy(compressed->bytes, &header, sizeof(header));
	if (type == ELFCOMPRESS_ZLIB)
		CHECK_INT(compress(to, &room, info, INFO_SIZE), Z_OK);
	else
		room = ZSTD_compress(to, INFO_SIZE, info, INFO_SIZE, 3);
	compressed->size = sizeof(header) + room;
	return compressed;
}

static void all_compressions(void)
{
	CLEANUP_FREE unsigned char *info = make_info();
	CLEANUP_FREE struct compressed *zlib = compress_info(info, ELFCOMPRESS_ZLIB);
	CLEANUP_FREE struct compressed *zstd = compress_info(info, 2);
	const size_t header = sizeof(Elf64_Chdr);
	const uint64_t old_size = htobe64(INFO_SIZE);
	struct file_section section = {".debug_info", info, INFO_SIZE, 0};

	check_info(&section, info, INFO_SIZE);
	section = (struct file_section){".debug_info", zlib->bytes, zlib->size, SHF_COMPRESSED};
	check_info(&section, info, INFO_SIZE);
	section = (struct file_section){".debug_info", zstd->bytes, zstd->size, SHF_COMPRESSED};
	check_info(&section, info, INFO_SIZE);
	/* GNU's older form: its header is half as long. */
	memcpy(zlib->bytes + header - 12, "ZLIB", 4);
	memcpy(zlib->bytes + header - 8, &old_size, sizeof(old_size));
	section = (struct file_section){".zdebug_info", zlib->bytes + header - 12,
					zlib->size - header + 12, 0};
	check_info(&section, info, INFO_SIZE);
}

/* Check the results of planning and then loading a file with that .debug_info. */
static void check_refused(const struct file_section *section, int planned, int loaded)
{
	const struct file_section sections[] = {
		*section, {".debug_abbrev", abbreviations, sizeof(abbreviations), 0}};
	CLEANUP(section_file__close) struct section_file file = {.elf.fd = -1};
	CLEANUP(debug_image__release) struct debug_image image = {0};
	struct debug_plan plan;
	uint64_t work = 1000;

	if (CHECK_INT(plan_file(&file, sections, ARRAY_SIZE(sections), &plan), planned) && !planned)
		CHECK_INT(debug_image__load(&image, &plan, &work), loaded);
}

static void check_compressed(struct compressed *compressed, uint32_t type, uint64_t size,
			     int planned, int loaded)
{
	const struct file_section section = {".debug_info", compressed->bytes, compressed->size,
					     SHF_COMPRESSED};
	Elf64_Chdr header = {.ch_type = type, .ch_size = size, .ch_addralign = 1};

	memcpy(compressed->bytes, &header, sizeof(header));
	check_refused(&section, planned, loaded);
}

static void compressed_lies(void)
{
	const uint32_t types[] = {ELFCOMPRESS_ZLIB, 2};
	CLEANUP_FREE unsigned char *info = make_info();
	const struct file_section short_header = {".debug_info", info, sizeof(Elf64_Chdr) - 1,
						  SHF_COMPRESSED};
	const struct file_section no_magic = {".zdebug_info", info, 100, 0};

	check_refused(&short_header, -EBADMSG, 0);
	check_refused(&no_magic, -EBADMSG, 0);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		CLEANUP_FREE struct compressed *made = compress_info(info, types[i]);
		const size_t size = made->size;

		check_compressed(made, types[i], INFO_SIZE, 0, 0);
		check_compressed(made, 77, INFO_SIZE, -EBADMSG, 0);
		/* The section has less, which nobody can tell from its size. */
		check_compressed(made, types[i], INFO_SIZE + 1, 0, -EBADMSG);
		check_compressed(made, types[i], 2000 * made->size, -EBADMSG, 0);
		check_compressed(made, types[i], DEBUG_IMAGE_MAX + 1, -EBADMSG, 0);
		check_compressed(made, types[i], UINT64_MAX, -EBADMSG, 0);
		/* Cut short, and spoilt. */
		made->size = size / 2;
		check_compressed(made, types[i], INFO_SIZE, 0, -EBADMSG);
		made->size = size;
		memset(made->bytes + sizeof(Elf64_Chdr), 0x5a, 64);
		check_compressed(made, types[i], INFO_SIZE, 0, -EBADMSG);
	}
}

static void other_sections(void)
{
	const struct file_section none[] = {{".text", "x", 1, 0}};
	const struct file_section no_abbreviations[] = {{".debug_info", "x", 1, 0}};
	const struct file_section split[] = {{".debug_info.dwo", "x", 1, 0},
					     {".debug_abbrev.dwo", "x", 1, 0},
					     {".debug_infos", "x", 1, 0},
					     {".debug_", "x", 1, 0}};
	struct debug_plan plan;

	for (int i = 0; i < 3; i++) {
		CLEANUP(section_file__close) struct section_file file = {.elf.fd = -1};

		CHECK_INT(plan_file(&file,
				    i == 0 ? none :
				    i == 1 ? no_abbreviations :
					     split,
				    i < 2 ? 1 : ARRAY_SIZE(split), &plan),
			  -ENOENT);
		CHECK_INT(debug_plan__make(&plan, &file.elf, true), i < 2 ? -ENOENT : 0);
	}
}

static void outside_of_the_file(void)
{
	const struct file_section sections[] = {
		{".debug_info", "x", 1, 0},
		{".debug_abbrev", abbreviations, sizeof(abbreviations), 0}};
	const uint64_t places[][2] = {
		{1 << 30, 1}, {1, UINT64_MAX}, {UINT64_MAX - 1, 5}, {0, 1 << 30}, {UINT64_MAX, 1}};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		CLEANUP(section_file__close) struct section_file file = {.elf.fd = -1};
		struct debug_plan plan;
		int fd = memfd_create("file", MFD_CLOEXEC);

		section_file__make(&file, sections, ARRAY_SIZE(sections));
		file.headers[1].sh_offset = places[i][0];
		file.headers[1].sh_size = places[i][1];
		if (!CHECK(write(fd, file.bytes, file.size) == (ssize_t)file.size))
			return;
		/* libelf may refuse it before. */
		if (elf_file__open(&file.elf, fd)) {
			close(fd);
			continue;
		}
		CHECK_INT(debug_plan__make(&plan, &file.elf, false), -EBADMSG);
	}
}

static void holes(void)
{
	const struct file_section sections[] = {
		{".debug_info", "x", 1, 0},
		{".debug_abbrev", abbreviations, sizeof(abbreviations), 0}};
	CLEANUP(section_file__close) struct section_file file = {.elf.fd = -1};
	struct debug_plan plan;

	section_file__make(&file, sections, ARRAY_SIZE(sections));
	file.headers[1].sh_size = (uint64_t)1 << 30;
	section_file__open(&file);
	if (!CHECK_INT(ftruncate(file.elf.fd, (off_t)1 << 31), 0))
		return;
	CHECK_INT(debug_plan__make(&plan, &file.elf, false), -EBADMSG);
	file.elf.sections[1].size = (uint64_t)1 << 20;
	CHECK_INT(debug_plan__make(&plan, &file.elf, false), 0);
}

static void cut_short_meanwhile(void)
{
	CLEANUP_FREE unsigned char *info = make_info();
	const struct file_section sections[] = {
		{".debug_info", info, INFO_SIZE, 0},
		{".debug_abbrev", abbreviations, sizeof(abbreviations), 0}};
	CLEANUP(section_file__close) struct section_file file = {.elf.fd = -1};
	struct debug_image image = {0};
	struct debug_plan plan;
	uint64_t work = 1000;

	if (!CHECK_INT(plan_file(&file, sections, ARRAY_SIZE(sections), &plan), 0))
		return;
	CHECK_INT(ftruncate(file.elf.fd, 64 * 1024), 0);
	CHECK_INT(debug_image__load(&image, &plan, &work), -EIO);
	CHECK(image.bytes == NULL);
}

static void supplied_sections(void)
{
	static const unsigned char addresses[] = {1, 2, 3, 4, 5, 6, 7, 8};
	const struct file_section sections[] = {
		{".debug_info", "x", 1, 0},
		{".debug_abbrev", abbreviations, sizeof(abbreviations), 0}};
	CLEANUP(section_file__close) struct section_file file = {.elf.fd = -1};
	CLEANUP(debug_image__release) struct debug_image image = {0};
	struct debug_plan plan;
	uint64_t work = 1000;

	if (!CHECK_INT(plan_file(&file, sections, ARRAY_SIZE(sections), &plan), 0))
		return;
	debug_plan__supply(&plan, DEBUG_ADDR,
			   (struct debug_bytes){.bytes = addresses, .size = sizeof(addresses)});
	if (!CHECK_INT(debug_image__load(&image, &plan, &work), 0))
		return;
	CHECK_INT(image.sections[DEBUG_ADDR].size, sizeof(addresses));
	CHECK(!memcmp(image.sections[DEBUG_ADDR].bytes, addresses, sizeof(addresses)));
	CHECK_INT(image.sections[DEBUG_LINE].size, 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"sections are inflated in all ways that there are", all_compressions},
		{"what compressed sections state is not believed", compressed_lies},
		{"other sections are none of these", other_sections},
		{"sections outside of the file are refused", outside_of_the_file},
		{"a file of holes is refused", holes},
		{"a file that is cut short is an error", cut_short_meanwhile},
		{"a section can come from memory", supplied_sections},
	};

	return TAP_RUN(tests);
}
