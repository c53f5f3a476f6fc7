// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * make_elf_seeds DIRECTORY: write the seeds of fuzz_elf_symbols, fuzz_probe_sites and
 * fuzz_unwind_table, which are better not kept as binary files. Those with a PLT, with USDT probes,
 * and with two sections of call-frame information, are copies of what the linker made for the unit
 * tests, in FIXTURES.
 */
#include <stdio.h>

#include "sym/util/array.h"
#include "test/fuzz/seed.h"
#include "test/unit/elf_image.h"

#define TEXT IMAGE_TEXT_ADDRESS

static const struct image_symbol symbols[] = {
	{"malloc", TEXT, 0x20, GLOBAL_FUNCTION, 0},
	{"__libc_malloc", TEXT, 0x20, GLOBAL_FUNCTION, 0},
	{"weak", TEXT, 0x20, WEAK_FUNCTION, 0},
	{"_ZNSo3putEc@@GLIBCXX_3.4", TEXT + 0x30, 8, WEAK_FUNCTION, 0},
	{"_RNvC7mycrate3foo", TEXT + 0x38, 8, LOCAL_FUNCTION, 0},
	{"pick", TEXT + 0x3c, 2, ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC), 0},
	{"open_ended", TEXT + 0x40, 0, LOCAL_FUNCTION, 0},
	{"outer", TEXT + 0x80, 0x40, LOCAL_FUNCTION, 0},
	{"inner", TEXT + 0x90, 0x10, LOCAL_FUNCTION, 0},
};

static const struct {
	const char *name;
	struct image_spec spec;
} seeds[] = {
	{"empty", {.tables = {{0}}}},
	{"full", {.tables = {{SHT_SYMTAB, symbols, ARRAY_SIZE(symbols)}}}},
	{"dynamic", {.tables = {{SHT_DYNSYM, symbols, ARRAY_SIZE(symbols)}}}},
	{"both", {.tables = {{SHT_DYNSYM, symbols, 1}, {SHT_SYMTAB, symbols + 1, 3}}}},
	{"full32", {.is_32bit = true, .tables = {{SHT_SYMTAB, symbols, ARRAY_SIZE(symbols)}}}},
};

static int write_seed(const char *directory, const char *name, const struct image_spec *spec)
{
	struct elf_image image = elf_image__make(spec);
	int err = seed__write(directory, name, image.bytes, image.size);

	elf_image__free(&image);
	return err;
}

/* What more sections need than the file header has room for, but with few of them. */
static int write_counted_sections(const char *directory)
{
	const struct image_spec spec = {.tables = {{SHT_SYMTAB, symbols, ARRAY_SIZE(symbols)}},
					.nr_before = 1};
	struct elf_image image = elf_image__make(&spec);
	Elf64_Ehdr *ehdr = elf_image__ehdr(&image);
	const Elf64_Shdr *table = elf_image__shdr(&image, spec.nr_before + IMAGE_TABLE_SECTION(0));
	int err;

	elf_image__shdr(&image, 0)->sh_size = ehdr->e_shnum;
	elf_image__shdr(&image, 0)->sh_link = table->sh_link;
	ehdr->e_shnum = 0;
	ehdr->e_shstrndx = SHN_XINDEX;
	for (size_t i = 1; i < table->sh_size / sizeof(Elf64_Sym); i++)
		((Elf64_Sym *)(image.bytes + table->sh_offset))[i].st_shndx = SHN_XINDEX;
	err = seed__write(directory, "counted_sections", image.bytes, image.size);
	elf_image__free(&image);
	return err;
}

/* Two USDT probes, one with a semaphore, and a build ID. */
static int write_usdt_seed(const char *directory, const char *name, bool is_32bit)
{
	static const char text[] = "provider\0probe\0-4@%edi";
	const uint64_t plain[3] = {TEXT, 0x402000},
		       supervisor[3] = {TEXT + 8, 0, IMAGE_DATA_ADDRESS};
	unsigned char notes[256];
	size_t size = image_note__append(notes, 0, NT_GNU_BUILD_ID, "GNU", "build", 5);
	struct image_spec spec = {.is_32bit = is_32bit, .notes = notes, .stapsdt_base = 0x402000};

	size = image_note__append_usdt(notes, size, is_32bit, plain, text, sizeof(text));
	size = image_note__append_usdt(notes, size, is_32bit, supervisor, text, sizeof(text));
	spec.notes_size = size;
	return write_seed(directory, name, &spec);
}

/* Up to size bytes of a fixture; returns how many. 0: there are none, and a message said so. */
static size_t read_fixture(const char *name, void *bytes, size_t size)
{
	char path[4096];
	size_t got = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", FIXTURES, name);
	file = fopen(path, "re");
	if (file) {
		got = fread(bytes, 1, size, file);
		fclose(file);
	}
	if (got == 0)
		perror(path);
	return got;
}

static int copy_fixture(const char *directory, const char *name)
{
	char bytes[64 * 1024];
	size_t size = read_fixture(name, bytes, sizeof(bytes));

	return size == 0 || seed__write(directory, name, bytes, size);
}

/* Its call-frame information is found by PT_GNU_EH_FRAME alone. */
static int write_without_sections(const char *directory)
{
	_Alignas(Elf64_Ehdr) unsigned char bytes[64 * 1024];
	struct elf_image image = {.bytes = bytes,
				  .size = read_fixture("usdt_program", bytes, sizeof(bytes))};

	if (image.size < sizeof(Elf64_Ehdr))
		return 1;
	elf_image__drop_sections(&image);
	return seed__write(directory, "no_sections", image.bytes, image.size);
}

static int copy_fixtures(const char *directory)
{
	int err = copy_fixture(directory, "usdt_program") | copy_fixture(directory, "two_frames");

#ifdef HAS_PLT_FIXTURES
	err |= copy_fixture(directory, "plt_lazy") | copy_fixture(directory, "plt_now") |
	       copy_fixture(directory, "plt_ibt");
#endif
	return err;
}

int main(int argc, char **argv)
{
	int err = 0;

	if (argc != 2)
		return 2;
	for (size_t i = 0; i < ARRAY_SIZE(seeds); i++)
		err |= write_seed(argv[1], seeds[i].name, &seeds[i].spec);
	err |= write_usdt_seed(argv[1], "usdt", false);
	err |= write_usdt_seed(argv[1], "usdt32", true);
	err |= write_without_sections(argv[1]) | write_counted_sections(argv[1]);
	return err | copy_fixtures(argv[1]);
}
