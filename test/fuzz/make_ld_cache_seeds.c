// SPDX-License-Identifier: GPL-2.0-or-later
/* make_ld_cache_seeds DIRECTORY: write the seeds of fuzz_ld_cache, with and without old entries. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sym/elf/machine.h"
#include "test/fuzz/seed.h"

struct entry {
	uint32_t flags, soname, path, unused;
	uint64_t hwcap;
};

struct cache {
	struct {
		char magic[12];
		uint32_t nr;
		uint32_t entries[2][3];
	} old;
	char magic[20];
	uint32_t nr, unused[6];
	struct entry entries[2];
	char strings[64];
};

#define NEW_FORMAT offsetof(struct cache, magic)
#define STRINGS	   (offsetof(struct cache, strings) - NEW_FORMAT)

static const struct cache cache = {
	.old = {.magic = "ld.so-1.7.0", .nr = 2},
	.magic = {"glibc-ld.so.cache1.1"},
	.nr = 2,
	.entries = {{3 | MACHINE_LD_CACHE, STRINGS, STRINGS + 10, 0, 0},
		    {3, STRINGS, STRINGS, 0, 1}},
	.strings = "libc.so.6\0/lib/libc.so.6",
};

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	return seed__write(argv[1], "behind_old", &cache, sizeof(cache)) |
	       seed__write(argv[1], "alone", cache.magic, sizeof(cache) - NEW_FORMAT);
}
