// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/build_id.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sym/util/cleanup.h"
#include "sym/util/kernel_fs.h"
#include "sym/util/text.h"

#define NOTES_MAX 4096

static uint32_t padded(uint32_t size)
{
	return (size + 3) & ~3U;
}

/* System V ABI, chapter 5: a note has a name and a description, both padded to four bytes. */
static void find_build_id(const char *notes, size_t size, char text[KERNEL_BUILD_ID_MAX])
{
	Elf64_Nhdr note;

	for (size_t at = 0; at + sizeof(note) <= size;) {
		const char *name = notes + at + sizeof(note);

		memcpy(&note, notes + at, sizeof(note));
		if (note.n_namesz > NOTES_MAX || note.n_descsz > NOTES_MAX)
			return;
		at += sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
		if (at > size)
			return;
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp(name, "GNU", sizeof("GNU")) != 0 ||
		    2 * note.n_descsz >= KERNEL_BUILD_ID_MAX)
			continue;
		text__hex((const unsigned char *)name + padded(note.n_namesz), note.n_descsz, text);
		return;
	}
}

void kernel_build_id__read(const char *module, char text[KERNEL_BUILD_ID_MAX])
{
	char path[128] = "kernel/notes", notes[NOTES_MAX];
	CLEANUP_FCLOSE FILE *file = NULL;

	text[0] = '\0';
	if (module && (strchr(module, '/') || strlen(module) > 64))
		return;
	if (module)
		snprintf(path, sizeof(path), "module/%s/notes/.note.gnu.build-id", module);
	file = kernel_fs__open_file(KERNEL_FS_SYS, path);
	if (file)
		find_build_id(notes, fread(notes, 1, sizeof(notes), file), text);
}
