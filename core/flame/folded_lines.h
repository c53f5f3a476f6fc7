/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks, as many tools write them: a line for each stack, its frames from the root with ";"
 * between them, a space, and how often it was seen. The marks _[k] (kernel), _[i] (inlined) and
 * _[j] (made by the process), which some tools put behind names, say the kind of a frame, and so
 * does a "-" before the frames of the kernel.
 */
#ifndef TRACEKIT_CORE_FLAME_FOLDED_LINES_H
#define TRACEKIT_CORE_FLAME_FOLDED_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct flame_tree;

#define FOLDED_LINE_MAX (1024 * 1024) /* bytes */
#define FOLDED_BAD_MAX	10	      /* lines that are told */

/* What was read, and what was not understood. */
struct folded_lines {
	const char *refused; /* what is wrong with the whole file, and what to do; or NULL */
	uint64_t stacks;     /* lines that were added */
	uint64_t rounded;    /* of these: with a number that had a fraction */
	uint64_t two_counts; /* of these: that end in two numbers */
	uint64_t bad;	     /* lines that are no stacks, and were left out */
	struct {
		uint64_t number; /* of the line, from 1 */
		const char *reason;
	} first_bad[FOLDED_BAD_MAX];
};

/*
 * Add all stacks to the tree, or to its earlier run. Names are made safe to print. Empty lines
 * are skipped, and so is a byte order mark. Reads no further than the first line of a file that is
 * another kind. Returns 0, -ENOMEM, or the negative errno of reading.
 */
int folded_lines__read(struct folded_lines *lines, FILE *in, struct flame_tree *tree, bool before);

#endif
