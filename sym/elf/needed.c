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

struct visit {
	bool (*visit)(void *context, enum elf_need what, const char *text);
	void *context;
};

static bool visit_string(const struct elf_file *elf, const struct elf_section *strings,
			 uint64_t offset, enum elf_need what, const struct visit *visit)
{
	char text[PATH_MAX];

	return offset < strings->size &&
	       elf_file__string(elf, strings, offset, text, sizeof(text)) &&
	       visit->visit(visit->context, what, text);
}

static bool visit_entries(const struct elf_file *elf, const struct elf_section *section,
			  enum elf_need what, const struct visit *visit)
{
	const struct elf_section *strings = &elf->sections[section->link];
	Elf64_Dyn dynamic;

	for (size_t i = 0; i < ENTRIES_MAX && read_dynamic(elf, section, i, &dynamic); i++) {
		bool is_path = dynamic.d_tag == DT_RUNPATH || dynamic.d_tag == DT_RPATH;
		bool is_wanted = what == ELF_NEED_RUN_PATH ? is_path : dynamic.d_tag == DT_NEEDED;

		if (is_wanted && visit_string(elf, strings, dynamic.d_un.d_val, what, visit))
			return true;
	}
	return false;
}

bool elf_needed__each(const struct elf_file *elf,
		      bool (*visit)(void *context, enum elf_need what, const char *text),
		      void *context)
{
	const struct elf_section *dynamic = find_dynamic(elf);
	const struct elf_section *loader = elf_file__find_section(elf, ".interp", true);
	const struct visit each = {.visit = visit, .context = context};

	if (loader && visit_string(elf, loader, 0, ELF_NEED_LOADER, &each))
		return true;
	return dynamic && dynamic->link < elf->nr_sections &&
	       (visit_entries(elf, dynamic, ELF_NEED_RUN_PATH, &each) ||
		visit_entries(elf, dynamic, ELF_NEED_LIBRARY, &each));
}

struct meant {
	bool (*is_meant)(const char *soname, const char *name);
	const char *name;
};

static bool is_library_meant(void *context, enum elf_need what, const char *soname)
{
	const struct meant *meant = context;

	return what == ELF_NEED_LIBRARY && meant->is_meant(soname, meant->name);
}

bool elf_needed__any(const struct elf_file *elf,
		     bool (*is_meant)(const char *soname, const char *name), const char *name)
{
	struct meant meant = {.is_meant = is_meant, .name = name};

	return elf_needed__each(elf, is_library_meant, &meant);
}
