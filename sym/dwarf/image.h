/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sections of an ELF file that tell inlined calls and lines, inflated, as a small ELF file of
 * their own in anonymous memory. libdw reads this file: it has no descriptor, maps no file, and
 * finds no name of another one to open.
 */
#ifndef TRACEKIT_SYM_DWARF_IMAGE_H
#define TRACEKIT_SYM_DWARF_IMAGE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/elf/section_part.h"

struct elf_file;

enum debug_section {
	DEBUG_INFO,
	DEBUG_ABBREV,
	DEBUG_LINE,
	DEBUG_LINE_STR,
	DEBUG_STR,
	DEBUG_STR_OFFSETS,
	DEBUG_ADDR,
	DEBUG_RANGES,
	DEBUG_RNGLISTS,
	DEBUG_TYPES,
	DEBUG_SECTIONS
};

/* More than this is not read of one file. The largest browsers have some 2 GB, inflated. */
#define DEBUG_IMAGE_MAX ((uint64_t)2 * 1024 * 1024 * 1024)

struct debug_bytes {
	const unsigned char *bytes;
	size_t size;
};

struct debug_plan {
	const struct elf_file *elf; /* borrowed */
	struct section_part parts[DEBUG_SECTIONS];
	const unsigned char *supplied[DEBUG_SECTIONS]; /* not NULL: instead of the file's */
	uint64_t size;				       /* of the image */
};

struct debug_image {
	unsigned char *bytes; /* mapped */
	size_t size;
	struct debug_bytes sections[DEBUG_SECTIONS];
	Elf *elf;
	Dwarf *dwarf;
};

/*
 * Where the sections of elf are: those whose names end in ".dwo" if is_split, else the other ones.
 * Returns 0 or -EBADMSG.
 */
int debug_parts__find(struct section_part parts[DEBUG_SECTIONS], const struct elf_file *elf,
		      bool is_split);

/*
 * Find out what to read of elf: sections whose names end in ".dwo" if is_split, else the other
 * ones. *elf must stay as it is.
 * Returns 0, -ENOENT if it says nothing about functions or lines, -EFBIG if it has more than is
 * read of one file, or -EBADMSG if it cannot have what it states.
 */
int debug_plan__make(struct debug_plan *plan, const struct elf_file *elf, bool is_split);

/* The same check of a plan whose parts someone has chosen; it fills in the size. */
int debug_plan__check(struct debug_plan *plan);

/* Have a section of the image be a copy of bytes, which must stay until it is loaded. */
void debug_plan__supply(struct debug_plan *plan, enum debug_section section,
			struct debug_bytes bytes);

/*
 * Read what was planned. From *work a unit is taken for each piece, so that whoever watches sees
 * progress. Returns 0 or a negative errno: -EIO, -EBADMSG, -ENOMEM.
 */
int debug_image__load(struct debug_image *image, const struct debug_plan *plan, uint64_t *work);
void debug_image__release(struct debug_image *image);

#endif
