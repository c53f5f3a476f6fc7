/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph as SVG (version 1.1): all of it in one element, with its script and its
 * style, for a file of its own or for a page.
 */
#ifndef TRACEKIT_CORE_FLAME_FLAME_PICTURE_H
#define TRACEKIT_CORE_FLAME_FLAME_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

struct flame_tree;

struct flame_picture {
	const struct flame_tree *tree; /* sorted, and not empty */
	const char *title;
	const char *about; /* a line below it */
	const char *unit;  /* of the weights: "samples" */
	bool in_page;	   /* of HTML, where there is no CDATA */
};

/*
 * Frames too narrow to be seen, or that would make the file larger than FLAME_BYTES, are left
 * out, and counted in the picture. Returns 0 or -ENOMEM; errors of writing stay in the FILE.
 */
#define FLAME_BYTES ((size_t)4500 * 1000)
int flame_picture__write(FILE *out, const struct flame_picture *picture);

#endif
