// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/find/ld_cache.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "sym/elf/machine.h"

/* ldconfig's flag for libraries of glibc. */
#define FLAG_LIBC6 0x0003

static const char old_magic[] = "ld.so-1.7.0";
static const char new_magic[] = "glibc-ld.so.cache1.1";

struct old_header {
	char magic[12];
	uint32_t nr;
	/* entries of 12 bytes */
};

struct new_header {
	char magic[20];
	uint32_t nr;
	uint32_t unused[6]; /* size of strings, byte order, extensions */
};

struct new_entry {
	uint32_t flags;
	uint32_t soname, path; /* from the header on */
	uint32_t unused;
	uint64_t hwcap; /* 0: for all CPUs */
};

_Static_assert(sizeof(struct old_header) == 16, "as in the file");
_Static_assert(sizeof(struct new_header) == 48, "as in the file");
_Static_assert(sizeof(struct new_entry) == 24, "as in the file");

/* Where the new format begins: behind the entries of the old one, aligned to eight bytes. */
static uint64_t find_start(const char *bytes, size_t size)
{
	struct old_header old;

	if (size < sizeof(old) || memcmp(bytes, old_magic, sizeof(old_magic) - 1))
		return 0;
	memcpy(&old, bytes, sizeof(old));
	return (sizeof(old) + (uint64_t)old.nr * 12 + 7) & ~(uint64_t)7;
}

int ld_cache__open(struct ld_cache *cache, const char *bytes, size_t size)
{
	uint64_t start = find_start(bytes, size);
	struct new_header header;

	if (start > size || size - start < sizeof(header))
		return -EINVAL;
	memcpy(&header, bytes + start, sizeof(header));
	if (memcmp(header.magic, new_magic, sizeof(header.magic)) ||
	    header.nr > (size - start - sizeof(header)) / sizeof(struct new_entry))
		return -EINVAL;
	*cache = (struct ld_cache){.bytes = bytes + start, .size = size - start, .nr = header.nr};
	return 0;
}

/* A string of at most PATH_MAX bytes with its NUL, or NULL. */
static const char *string_at(const struct ld_cache *cache, uint32_t offset)
{
	size_t room = offset < cache->size ? cache->size - offset : 0;

	if (room > PATH_MAX)
		room = PATH_MAX;
	return room && memchr(cache->bytes + offset, '\0', room) ? cache->bytes + offset : NULL;
}

bool ld_cache__entry(const struct ld_cache *cache, uint32_t i, const char **soname,
		     const char **path)
{
	const char *found_soname, *found_path;
	struct new_entry entry;

	memcpy(&entry, cache->bytes + sizeof(struct new_header) + (size_t)i * sizeof(entry),
	       sizeof(entry));
	if (entry.flags != (FLAG_LIBC6 | MACHINE_LD_CACHE) || entry.hwcap)
		return false;
	found_soname = string_at(cache, entry.soname);
	found_path = string_at(cache, entry.path);
	if (!found_soname || !found_path)
		return false;
	*soname = found_soname;
	*path = found_path;
	return true;
}
