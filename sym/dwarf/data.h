/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions, inlined calls and source lines of addresses, from an image of DWARF.
 *
 * The ranges of all units are read once, ranges inside a unit when addresses in it are asked
 * for; few of these are kept, as long as memory suffices: memory follows the largest unit. Anyone
 * may have made the image: *work bounds its cost.
 */
#ifndef TRACEKIT_SYM_DWARF_DATA_H
#define TRACEKIT_SYM_DWARF_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "sym/dwarf/frame.h"

struct debug_data;
struct debug_image;
struct debug_package;

/* Work for one question: some seconds. Few programs cost a thousandth of it. */
#define DEBUG_DATA_WORK ((uint64_t)64 * 1024 * 1024)

struct debug_data_caller {
	void *context;
	/*
	 * Called once for each address of which something is known, with its index and its
	 * frames, the innermost first: the last one is the function itself, which is without
	 * a name if only lines are known. All is valid until it returns. Not 0: stop, and return
	 * that.
	 */
	int (*emit)(void *context, size_t index, const struct debug_frame *frames, size_t nr);
	/* A descriptor of the file at path, which the image names, to be closed; or a negative
	 * errno. */
	int (*open_file)(void *context, const char *path);
};

/*
 * All are borrowed, and both images must be alone in referring to each other; alternate is
 * the one that dwz moved what is common to, or NULL; package has split units, or is NULL. Returns 0
 * or -ENOMEM.
 */
int debug_data__new(struct debug_data **data, const struct debug_image *image,
		    const struct debug_image *alternate, struct debug_package *package);
void debug_data__free(struct debug_data *data);

/*
 * Answer for addresses, which are sorted. Returns 0, -EFBIG if no work was left (what was
 * found by then has been told), also if that was when the units were read, or -ENOMEM.
 */
int debug_data__find(struct debug_data *data, const uint64_t *addresses, size_t nr,
		     const struct debug_data_caller *caller, uint64_t *work);

/* Skeletons whose file was wanted, but could not be had: they have lines only. */
size_t debug_data__nr_missing(const struct debug_data *data);

#endif
