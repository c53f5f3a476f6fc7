// SPDX-License-Identifier: GPL-2.0-or-later
/* make_debug_file_seeds DIRECTORY: write the seeds of fuzz_debug_file. */
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>

#include "test/fuzz/seed.h"
#include "test/unit/elf_image.h"

static const char link_section[] = "program.debug\0\0\0\x12\x34\x56\x78";
static const char alternate_section[] = "/usr/lib/debug/.dwz/machine/x.debug\0"
					"0123456789abcdefghij";

static int write_xz(const char *directory, const char *name, bool is_32bit)
{
	static const struct image_symbol symbol = {"f", IMAGE_TEXT_ADDRESS, 8, GLOBAL_FUNCTION, 0};
	const struct image_spec spec = {.is_32bit = is_32bit, .tables = {{SHT_SYMTAB, &symbol, 1}}};
	struct elf_image image = elf_image__make(&spec);
	unsigned char packed[4096];
	size_t size = 0;
	int err = 1;

	if (lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, image.bytes, image.size, packed,
				    &size, sizeof(packed)) == LZMA_OK)
		err = seed__write(directory, name, packed, size);
	elf_image__free(&image);
	return err;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	return seed__write(argv[1], "link", link_section, sizeof(link_section) - 1) |
	       seed__write(argv[1], "alternate", alternate_section, sizeof(alternate_section) - 1) |
	       write_xz(argv[1], "xz", false) | write_xz(argv[1], "xz32", true);
}
