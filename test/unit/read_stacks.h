/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of stacks for tests, and what is read of them. */
#ifndef TRACEKIT_TEST_UNIT_READ_STACKS_H
#define TRACEKIT_TEST_UNIT_READ_STACKS_H

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/flame/flame_tree.h"
#include "core/input/input.h"
#include "test/unit/tap.h"

/* A file in memory with these bytes, to be read from its beginning. */
static inline int make_file(const void *bytes, size_t size)
{
	int fd = memfd_create("stacks", MFD_CLOEXEC);

	CHECK_INT(write(fd, bytes, size), (ssize_t)size);
	CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* Read them into reading->tree, which is sorted then. */
static inline void read_bytes(struct reading *reading, const void *bytes, size_t size)
{
	CHECK_INT(input__read(reading, make_file(bytes, size)), 0);
	CHECK_INT(flame_tree__sort(reading->tree), 0);
}

static inline struct reading read_text(struct flame_tree *tree, const char *text)
{
	struct reading reading = {.tree = tree};

	read_bytes(&reading, text, strlen(text));
	return reading;
}

/* The nodes in order, without the root: "DEPTH TEXT KIND SELF", one behind the other. */
static inline const char *in_order(const struct flame_tree *tree)
{
	static char text[4096];
	static const char letters[] = "pukigxm";

	static_assert(sizeof(letters) == NR_FLAME_KINDS + 1, "a letter for each kind");
	text[0] = '\0';
	for (uint32_t at = tree->nr ? flame_tree__next(tree, 0) : 0; at;
	     at = flame_tree__next(tree, at)) {
		const struct flame_node *node = &tree->nodes[at];
		size_t length = strlen(text);

		snprintf(text + length, sizeof(text) - length, "%s%u %s %c %" PRIu64,
			 length ? ", " : "", node->depth, node->text, letters[node->kind],
			 node->self);
	}
	return text;
}

#endif
