// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Input: an ELF file. Looked up are addresses of the seeds' functions, the first ones
 * of sections with code, which may be entries of a PLT, and some far off.
 */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "sym/elf/file.h"
#include "sym/elf/plt.h"
#include "sym/elf/symbols.h"
#include "sym/util/array.h"
#include "test/fuzz/fuzz.h"
#include "test/unit/elf_image.h"

#define LOOKUPS 128

/* All of the file, or as much of it as one file may cost. */
static bool is_done(int err)
{
	return err == 0 || err == -EFBIG;
}

static int compare_addresses(const void *a, const void *b)
{
	return COMPARE(((const struct elf_lookup *)a)->address,
		       ((const struct elf_lookup *)b)->address);
}

static void fill_lookups(const struct elf_file *elf, struct elf_lookup *lookups)
{
	size_t nr = 0;

	lookups[nr++] = (struct elf_lookup){.address = 0};
	lookups[nr++] = (struct elf_lookup){.address = UINT64_MAX};
	for (; nr < LOOKUPS / 2; nr++)
		lookups[nr] =
			(struct elf_lookup){.address = IMAGE_TEXT_ADDRESS - 16 + 8 * (uint64_t)nr};
	for (size_t i = 0; i < elf->nr_sections; i++)
		for (uint64_t at = 4; at < 12 * 8 && nr < LOOKUPS; at += 8)
			if (elf->sections[i].flags & SHF_EXECINSTR)
				lookups[nr++] = (struct elf_lookup){
					.address = elf->sections[i].address + at};
	for (; nr < LOOKUPS; nr++)
		lookups[nr] = (struct elf_lookup){.address = 8 * (uint64_t)nr};
	array__sort(lookups, LOOKUPS, sizeof(*lookups), compare_addresses);
}

static void check_lookups(const struct elf_lookup *lookups)
{
	for (size_t i = 0; i < LOOKUPS; i++) {
		const struct elf_lookup *lookup = &lookups[i];

		REQUIRE(!lookup->name || lookup->start <= lookup->address);
		REQUIRE(!lookup->name || (lookup->name[0] && strlen(lookup->name) < 16384));
	}
}

static void look_up(const struct elf_file *elf)
{
	struct elf_lookup lookups[LOOKUPS], unnamed[LOOKUPS];
	struct arena names = {0};
	uint64_t address;

	fill_lookups(elf, lookups);
	memcpy(unnamed, lookups, sizeof(unnamed));
	REQUIRE(is_done(
		elf_symbols__find(elf, lookups, LOOKUPS, &names, &(uint64_t){ELF_SYMBOLS_WORK})));
	check_lookups(lookups);
	REQUIRE(is_done(
		elf_plt__find(elf, lookups, LOOKUPS, &names, &(uint64_t){ELF_SYMBOLS_WORK})));
	check_lookups(lookups);
	REQUIRE(is_done(
		elf_plt__find(elf, unnamed, LOOKUPS, &names, &(uint64_t){ELF_SYMBOLS_WORK})));
	check_lookups(unnamed);
	for (size_t i = 0; i < LOOKUPS; i++)
		REQUIRE(!unnamed[i].name || strstr(unnamed[i].name, "@plt"));
	for (uint64_t offset = 0; offset < 2 * IMAGE_TEXT_OFFSET; offset += 64)
		elf_file__address(elf, offset, &address);
	arena__release(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file elf;

	if (elf_file__open(&elf, open_input(data, size)) == 0) {
		look_up(&elf);
		elf_file__close(&elf);
	}
	return 0;
}
