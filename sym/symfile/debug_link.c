// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/symfile/debug_link.h"

#include <errno.h>
#include <string.h>

#include "sym/elf/file.h"

/*
 * Up to size bytes of a section that begins with a string: returns how many bytes it has,
 * 0 if there is no such section, it is larger, or the string is empty or does not end.
 */
static size_t read_section(const struct elf_file *elf, const char *name, char *bytes, size_t size)
{
	const struct elf_section *section = elf_file__find_section(elf, name, false);
	size_t got;

	if (!section || section->size > size)
		return 0;
	got = elf_file__read(elf, bytes, (size_t)section->size, section->offset);
	return got == section->size && got && bytes[0] && memchr(bytes, '\0', got) ? got : 0;
}

int debug_link__read(struct debug_link *link, const struct elf_file *elf)
{
	char bytes[sizeof(link->name) + sizeof(link->crc) + 3];
	size_t size = read_section(elf, ".gnu_debuglink", bytes, sizeof(bytes));
	size_t length = size ? strlen(bytes) : 0;
	size_t crc = (length + 1 + 3) & ~(size_t)3; /* where it stands */

	if (!length || length > NAME_MAX || crc + sizeof(link->crc) > size || strchr(bytes, '/') ||
	    !strcmp(bytes, ".") || !strcmp(bytes, ".."))
		return -ENOENT;
	memcpy(link->name, bytes, length + 1);
	memcpy(&link->crc, bytes + crc, sizeof(link->crc));
	return 0;
}

int debug_alternate__read(struct debug_alternate *alternate, const struct elf_file *elf)
{
	char bytes[sizeof(alternate->path) + sizeof(alternate->id.bytes)];
	size_t size = read_section(elf, ".gnu_debugaltlink", bytes, sizeof(bytes));
	size_t path_size = size ? strlen(bytes) + 1 : 0;
	size_t id_size = size - path_size;

	if (!size || path_size > sizeof(alternate->path) || id_size < 2 ||
	    id_size > sizeof(alternate->id.bytes))
		return -ENOENT;
	memcpy(alternate->path, bytes, path_size);
	memcpy(alternate->id.bytes, bytes + path_size, id_size);
	alternate->id.size = (int)id_size;
	return 0;
}
