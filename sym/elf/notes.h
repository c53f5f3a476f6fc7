/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notes of an ELF file: what a toolchain left there for others. Format: System
 * V ABI, chapter 5; fields of four bytes, names and data padded to four, in files
 * of 64 bits as well.
 */
#ifndef TRACEKIT_SYM_ELF_NOTES_H
#define TRACEKIT_SYM_ELF_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct work;

/* Points into memory that is valid until the visit returns. */
struct elf_note {
	uint32_t type;
	const char *owner; /* as the file has it, its NUL included if it has one */
	size_t owner_size;
	const char *data;
	size_t size;
};

/* True if it is a note of that type of the owner of that name. */
bool elf_note__is(const struct elf_note *note, uint32_t type, const char *owner);

/*
 * Call visit for each note, in the order of the file, until it returns other than
 * 0, which is returned, or until no work is left. A section ends for us at a note
 * that does not fit into it, or has more than 64 KB.
 */
typedef int (*elf_notes_visit)(void *context, const struct elf_note *note);
int elf_notes__each(const struct elf_file *elf, const struct work *work, elf_notes_visit visit,
		    void *context);

/*
 * The build ID of a file, by which separate files of its symbols are known, into id.
 * Its size, or -ENOENT if there is none that fits.
 */
#define ELF_BUILD_ID_MAX 64
int elf_notes__build_id(const struct elf_file *elf, unsigned char id[ELF_BUILD_ID_MAX]);

#endif
