// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/elf/notes.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "sym/elf/file.h"
#include "sym/elf/file_window.h"
#include "sym/elf/work.h"

/* To take a note apart, and have it looked at, takes as much work as so many symbols. */
#define NOTE_COST 16

/* No file has so many notes that its build ID is not found with so much work. */
#define BUILD_ID_WORK (1024 * 1024)

struct note_pass {
	struct file_window window;
	elf_notes_visit visit;
	void *context;
};

bool elf_note__is(const struct elf_note *note, uint32_t type, const char *owner)
{
	size_t size = strlen(owner) + 1;

	return note->type == type && note->owner_size == size && !memcmp(note->owner, owner, size);
}

static uint64_t padded(uint32_t size)
{
	return ((uint64_t)size + 3) & ~(uint64_t)3;
}

static int pass_section(struct note_pass *pass, const struct elf_section *section)
{
	uint64_t at = 0;
	int err = 0;

	while (!err && at < section->size && work__is_left(pass->window.work)) {
		Elf64_Nhdr header; /* the same as Elf32_Nhdr */
		struct elf_note note;
		const char *bytes;
		uint64_t size;
		size_t got;

		work__charge(pass->window.work, NOTE_COST);
		bytes = file_window__at(&pass->window, section->offset + at, sizeof(header), &got);
		if (got < sizeof(header))
			break;
		memcpy(&header, bytes, sizeof(header));
		/* The padding of the last one can be missing. */
		size = sizeof(header) + padded(header.n_namesz) + header.n_descsz;
		if (size > FILE_WINDOW_SIZE || size > section->size - at)
			break;
		bytes = file_window__at(&pass->window, section->offset + at, (size_t)size, &got);
		if (got < size)
			break;
		note = (struct elf_note){
			.type = header.n_type,
			.owner = bytes + sizeof(header),
			.owner_size = header.n_namesz,
			.data = bytes + size - header.n_descsz,
			.size = header.n_descsz,
		};
		err = pass->visit(pass->context, &note);
		at += sizeof(header) + padded(header.n_namesz) + padded(header.n_descsz);
	}
	return err;
}

int elf_notes__each(const struct elf_file *elf, const struct work *work, elf_notes_visit visit,
		    void *context)
{
	struct note_pass pass = {
		.window = {.elf = elf, .work = work}, .visit = visit, .context = context};
	int err = 0;

	for (size_t i = 0; i < elf->nr_sections && !err; i++)
		if (elf->sections[i].type == SHT_NOTE)
			err = pass_section(&pass, &elf->sections[i]);
	return err;
}

struct build_id {
	unsigned char *bytes;
	int size;
};

/* 1: found. */
static int take_build_id(void *context, const struct elf_note *note)
{
	struct build_id *id = context;

	if (!elf_note__is(note, NT_GNU_BUILD_ID, "GNU") || note->size == 0 ||
	    note->size > ELF_BUILD_ID_MAX)
		return 0;
	memcpy(id->bytes, note->data, note->size);
	id->size = (int)note->size;
	return 1;
}

int elf_notes__build_id(const struct elf_file *elf, unsigned char id[ELF_BUILD_ID_MAX])
{
	uint64_t left = BUILD_ID_WORK;
	const struct work work = work__share(&left, BUILD_ID_WORK);
	struct build_id found = {.bytes = id};

	return elf_notes__each(elf, &work, take_build_id, &found) ? found.size : -ENOENT;
}
