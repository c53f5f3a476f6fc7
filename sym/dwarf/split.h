/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Units that are split: the program has a skeleton, whose own file, with a name that ends in
 * ".dwo", has the rest; or a package has it, with that of all others. Format: DWARF 5, 3.1.2 and
 * 7.3.2; GCC's earlier form of it for 4.
 */
#ifndef TRACEKIT_SYM_DWARF_SPLIT_H
#define TRACEKIT_SYM_DWARF_SPLIT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/dwarf/image.h"
#include "sym/dwarf/unit.h"

struct debug_package;

/* A skeleton's claims about its file. */
struct debug_split {
	char path[PATH_MAX];
	uint64_t id;
	uint64_t base; /* what its range lists are relative to */
	/* The part of the program's sections that its indices begin at. */
	struct debug_bytes addresses, ranges;
};

/*
 * Fill in *split from the skeleton of image. Returns 0, -ENOENT if it is no skeleton, or
 * -ENAMETOOLONG. The path is the skeleton's word: the caller decides where to look.
 */
int debug_split__of(struct debug_split *split, Dwarf_Die *skeleton,
		    const struct debug_image *image);

/*
 * Load the file at fd, and have *unit begin with the entry that belongs to the skeleton.
 * Returns 0, -ESTALE if the file is of another compilation, or another negative errno.
 */
int debug_split__load(const struct debug_split *split, int fd, struct debug_image *image,
		      struct debug_unit *unit, uint64_t *work);

/* The same from a package, which must stay as long as the unit; -ENOENT if it has no such unit. */
int debug_split__load_packed(const struct debug_split *split, struct debug_package *package,
			     struct debug_image *image, struct debug_unit *unit, uint64_t *work);

#endif
