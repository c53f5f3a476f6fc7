/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the bytes of a section lie in its file, which may have compressed them. */
#ifndef TRACEKIT_SYM_ELF_SECTION_PART_H
#define TRACEKIT_SYM_ELF_SECTION_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "sym/elf/inflate.h"

struct elf_section;
struct elf_file;
struct work;

struct section_part {
	uint64_t offset, size; /* in the file, without the header of a compressed section */
	enum compression compression;
	uint64_t inflated; /* the size of what is read of it; 0: there is no such section */
};

/* is_old: its name begins with ".zdebug_". Returns 0, or -EBADMSG with *part as it was. */
int section_part__find(struct section_part *part, const struct elf_file *elf,
		       const struct elf_section *section, bool is_old);

/* True if a file of that size can have so many bytes there. */
bool section_part__fits(const struct section_part *part, uint64_t file_size);

/*
 * Read all bytes of it into place. Some work is taken for each megabyte. Returns 0, -EIO if the
 * file has less, -EBADMSG if they are not compressed as stated, or -ENOMEM.
 */
int section_part__read(const struct section_part *part, const struct elf_file *elf,
		       unsigned char *bytes, const struct work *work);

#endif
