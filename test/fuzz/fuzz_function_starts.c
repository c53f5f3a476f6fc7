// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: an ELF file. Starts are looked for where its code is, and around. */
#include <elf.h>
#include <errno.h>

#include "sym/cfi/function_starts.h"
#include "sym/elf/file.h"
#include "sym/elf/symbols.h"
#include "test/fuzz/fuzz.h"

#define LOOKUPS 64
#define WORK	((uint64_t)1024 * 1024)

static void check(const struct elf_file *elf, const struct elf_lookup *lookup)
{
	const struct elf_segment *segment = elf_file__segment(elf, lookup->address, PF_X);

	REQUIRE(!lookup->name && lookup->start <= lookup->address);
	REQUIRE(!lookup->start || (segment && lookup->start >= segment->address));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_lookup lookups[LOOKUPS] = {{.address = 0}};
	uint64_t first = 0, step = 0, work = WORK;
	struct elf_file elf;
	int err;

	if (elf_file__open(&elf, open_input(data, size)))
		return 0;
	for (size_t i = 0; i < elf.nr_segments; i++) {
		if (!(elf.segments[i].flags & PF_X))
			continue;
		first = elf.segments[i].address;
		step = elf.segments[i].size / (LOOKUPS - 4);
	}
	/* Sorted, unless they wrap around. */
	for (size_t i = 1; i < LOOKUPS; i++)
		if (__builtin_add_overflow(first, step * (i - 1), &lookups[i].address))
			lookups[i].address = UINT64_MAX;
	err = function_starts__find(&elf, lookups, LOOKUPS, &work);
	REQUIRE(err == 0 || (err == -EFBIG && work == 0));
	for (size_t i = 0; i < LOOKUPS; i++)
		check(&elf, &lookups[i]);
	elf_file__close(&elf);
	return 0;
}
