// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: an ELF file. Addresses of the seeds' functions, and some far off, are looked up. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/util/array.h"
#include "sym/elf_symbols.h"
#include "test/fuzz/fuzz.h"
#include "test/unit/elf_image.h"

/* The same file for all inputs: it need not be made again. */
static int open_input(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("input", MFD_CLOEXEC);
	REQUIRE(fd >= 0);
	REQUIRE(ftruncate(fd, 0) == 0);
	REQUIRE(pwrite(fd, data, size, 0) == (ssize_t)size);
	return fd;
}

static void fill_lookups(struct elf_lookup *lookups, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		lookups[i] = (struct elf_lookup){.address = IMAGE_TEXT_ADDRESS - 8 + 8 * i};
	lookups[0].address = 0;
	lookups[nr - 1].address = UINT64_MAX;
}

static void look_up(const struct elf_symbols *elf)
{
	struct elf_lookup lookups[64];
	struct arena names = {0};
	uint64_t address;
	int err;

	fill_lookups(lookups, ARRAY_SIZE(lookups));
	err = elf_symbols__find(elf, lookups, ARRAY_SIZE(lookups), &names,
				&(uint64_t){ELF_SYMBOLS_WORK});
	REQUIRE(err == 0 || err == -EFBIG);
	for (size_t i = 0; i < ARRAY_SIZE(lookups); i++) {
		const struct elf_lookup *lookup = &lookups[i];

		REQUIRE(!lookup->name || lookup->start <= lookup->address);
		REQUIRE(!lookup->name || (lookup->name[0] && strlen(lookup->name) < 16384));
	}
	for (uint64_t offset = 0; offset < 2 * IMAGE_TEXT_OFFSET; offset += 64)
		elf_symbols__address(elf, offset, &address);
	arena__release(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_symbols elf;

	if (elf_symbols__open(&elf, open_input(data, size)) == 0) {
		look_up(&elf);
		elf_symbols__close(&elf);
	}
	return 0;
}
