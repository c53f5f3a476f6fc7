/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packages (.dwp): the split units of a whole program in one file, each a part of each section,
 * found by its ID in an index. Format: DWARF 5, 7.3.5; GNU's earlier form of it for version 4.
 *
 * A package can be larger than memory: of it the index is read, the parts of units that are asked
 * for, and of the strings, which are those of all units, each name when it is wanted. A section
 * that is compressed has to be read as a whole, and is kept. Anyone may have made the file.
 */
#ifndef TRACEKIT_SYM_DWARF_PACKAGE_H
#define TRACEKIT_SYM_DWARF_PACKAGE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/dwarf/image.h"
#include "sym/util/arena.h"

struct work;

struct package_index {
	unsigned char *bytes;
	uint32_t version, columns, units, slots;
	/* The tables in it: IDs by slot, rows by slot, kinds of columns, offsets and sizes. */
	const unsigned char *ids, *rows, *kinds, *offsets, *sizes;
};

/* Begins with nothing but the first member, and with that NULL if there is no package. */
struct debug_package {
	const struct elf_file *elf; /* borrowed */
	bool is_read;
	int err; /* why it cannot be used, or 0 */
	struct package_index index;
	struct section_part parts[DEBUG_SECTIONS];
	unsigned char
		*inflated[DEBUG_SECTIONS]; /* of those that are compressed, if it was needed */
};

void debug_package__release(struct debug_package *package);

/* The strings of a unit in a package, as its entries refer to them: by index. */
struct debug_strings {
	struct debug_package *package; /* borrowed; NULL: libdw finds the strings */
	const unsigned char *end;      /* of the unit's entries */
	uint64_t offset, nr;	       /* where its offsets of strings are, and how many */
	unsigned int entry_size;
	struct arena arena;
	size_t size; /* of all strings in it */
};

/*
 * Plan to read the unit that has this ID, and find its strings. Returns 0, -ENOENT if the package
 * has none, or another negative errno. *plan is valid as long as the package.
 */
int debug_package__plan(struct debug_package *package, uint64_t id, struct debug_plan *plan,
			struct debug_strings *strings, uint64_t *work);

/* The string of an attribute, or NULL; valid until the strings are released. */
const char *debug_strings__get(struct debug_strings *strings, Dwarf_Attribute *attribute,
			       const struct work *work);
void debug_strings__release(struct debug_strings *strings);

#endif
