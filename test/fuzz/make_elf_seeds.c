// SPDX-License-Identifier: GPL-2.0-or-later
/* make_elf_seeds DIRECTORY: write the seeds of fuzz_elf_symbols, which are better not kept as
 * binary files. */
#include <stdio.h>

#include "core/util/array.h"
#include "test/unit/elf_image.h"

#define TEXT IMAGE_TEXT_ADDRESS

static const struct image_symbol symbols[] = {
	{"malloc", TEXT, 0x20, GLOBAL_FUNCTION, 0},
	{"__libc_malloc", TEXT, 0x20, GLOBAL_FUNCTION, 0},
	{"weak", TEXT, 0x20, WEAK_FUNCTION, 0},
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
	char path[4096];
	FILE *file;
	int err = 1;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "we");
	if (file) {
		err = fwrite(image.bytes, image.size, 1, file) != 1;
		err |= fclose(file) != 0;
	}
	if (err)
		perror(path);
	elf_image__free(&image);
	return err;
}

int main(int argc, char **argv)
{
	int err = 0;

	if (argc != 2)
		return 2;
	for (size_t i = 0; i < ARRAY_SIZE(seeds); i++)
		err |= write_seed(argv[1], seeds[i].name, &seeds[i].spec);
	return err;
}
