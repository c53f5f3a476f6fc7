/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that may have been meant by one that was not found: the nearest to it in a list that is
 * searched anyway.
 *
 * Nearest is the same name in other letter case, then names to which the fewest edits lead (a
 * letter too many, too few, or wrong, or two letters swapped), then the shortest names that begin
 * with it. Which names are kept does not depend on their order.
 */
#ifndef TRACEKIT_CORE_OPTIONS_NEAR_NAMES_H
#define TRACEKIT_CORE_OPTIONS_NEAR_NAMES_H

#include <stddef.h>

#define NEAR_NAMES     3
#define NEAR_NAME_SIZE 96 /* longer names are not near to anything */

struct near_name {
	size_t distance;
	char name[NEAR_NAME_SIZE];
};

struct near_names {
	const char *wanted; /* borrowed; NULL: nothing is near to it */
	struct near_name names[NEAR_NAMES];
	size_t nr;
};

/* Keep name (copied) if it is among the nearest to near->wanted so far. */
void near_names__offer(struct near_names *near, const char *name);

/*
 * Write " (did you mean 'vfs_read' or 'vfs_readv'?)", or nothing if nothing is near, to end a
 * message with. The text is safe to print, and cut to size bytes with a NUL.
 */
#define NEAR_NAMES_TEXT_SIZE (NEAR_NAMES * NEAR_NAME_SIZE + 32)
void near_names__text(const struct near_names *near, char *text, size_t size);

#endif
