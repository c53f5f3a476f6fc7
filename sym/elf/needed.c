// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/elf/needed.h"

#include <elf.h>
#include <limits.h>
#include <stddef.h>

#include "sym/elf/file.h"

/* The largest programs are linked with some hundred libraries. */
#define ENTRIES_MAX 4096

/* Read dynamic entry i of a section; false behind the last one. */
static bool read_dynamic(const struct elf_file *elf, const struct elf_section *section, size_t i,
			 Elf64_Dyn *dynamic)
{
	Elf32_Dyn narrow;
	size_t size = elf->is_64bit ? sizeof(*dynamic) : sizeof(narrow);
	void *entry = elf->is_64bit ? (void *)dynamic : &narrow;

	if (i >= section->size / size ||
	    elf_file__read(elf, entry, size, section->offset + i * size) != size)
		return false;
	if (!elf->is_64bit)
		*dynamic = (Elf64_Dyn){.d_tag = narrow.d_tag, .d_un.d_val = narrow.d_un.d_val};
	return dynamic->d_tag != DT_NULL;
}

static const struct elf_section *find_dynamic(const struct elf_file *elf)
{
	for (size_t i = 0; i < elf->nr_sections; i++)
		if (elf->sections[i].type == SHT_DYNAMIC)
			return &elf->sections[i];
	return NULL;
}

bool elf_needed__any(const struct elf_file *elf,
		     bool (*is_meant)(const char *soname, const char *name), const char *name)
{
	const struct elf_section *section = find_dynamic(elf), *names;
	Elf64_Dyn dynamic;

	if (!section || section->link >= elf->nr_sections)
		return false;
	names = &elf->sections[section->link];
	for (size_t i = 0; i < ENTRIES_MAX && read_dynamic(elf, section, i, &dynamic); i++) {
		char soname[NAME_MAX + 1];

		if (dynamic.d_tag != DT_NEEDED || dynamic.d_un.d_val >= names->size)
			continue;
		elf_file__string(elf, names, dynamic.d_un.d_val, soname, sizeof(soname));
		if (is_meant(soname, name))
			return true;
	}
	return false;
}
