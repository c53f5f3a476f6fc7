// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: an ELF file with a table of Go functions. */
#include <errno.h>
#include <string.h>

#include "sym/elf/file.h"
#include "sym/elf/go_functions.h"
#include "sym/elf/symbols.h"
#include "sym/util/arena.h"
#include "sym/util/array.h"
#include "test/fuzz/fuzz.h"
#include "test/unit/go_image.h"

#define LOOKUPS 64
#define WORK	((uint64_t)1024 * 1024)

static int look_up(const struct elf_file *elf, struct elf_lookup *lookups, size_t nr,
		   struct arena *names)
{
	uint64_t work = WORK;
	int err = go_functions__find(elf, lookups, nr, names, &work);

	REQUIRE(err == (work ? 0 : -EFBIG));
	for (size_t i = 0; i < nr; i++) {
		const struct elf_lookup *lookup = &lookups[i];

		REQUIRE(!lookup->name || lookup->start <= lookup->address);
		REQUIRE(!lookup->name || (lookup->name[0] && strlen(lookup->name) < 4096));
	}
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_lookup lookups[LOOKUPS] = {{.address = 0}};
	struct arena names = {0};
	struct elf_file elf;

	if (elf_file__open(&elf, open_input(data, size)))
		return 0;
	for (size_t i = 1; i < LOOKUPS - 1; i++)
		lookups[i].address = GO_TEXT - 16 + 8 * (uint64_t)i;
	lookups[LOOKUPS - 1].address = UINT64_MAX;
	look_up(&elf, lookups, LOOKUPS, &names);
	elf_file__close(&elf);
	arena__release(&names);
	return 0;
}
