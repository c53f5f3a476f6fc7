/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph as SVG (version 1.1): all of it in one element, with its script and its
 * style, for a file of its own or for a page.
 */
#ifndef TRACEKIT_CORE_FLAME_FLAME_PICTURE_H
#define TRACEKIT_CORE_FLAME_FLAME_PICTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct flame_tree;

struct flame_picture {
	const struct flame_tree *tree; /* sorted, and not empty */
	const char *title;
	const char *about; /* a line below it */
	const char *unit;  /* of the weights: "samples" */
	bool waits;	   /* they are of threads that wait: other colours */
	/*
	 * What weights of the earlier run are multiplied with, to compare them; 0: the tree has no
	 * earlier run. Colours then tell growth, and frames that are gone can be shown.
	 */
	double scale;
	bool in_page; /* of HTML, where there is no CDATA */
};

/*
 * Frames that are too narrow to be seen are left out, and those for which FLAME_BYTES have no room:
 * the widest come first, and of equal ones the outermost. The picture says how many are left out.
 * Returns 0 or -ENOMEM; errors of writing stay in the FILE.
 */
#define FLAME_BYTES ((size_t)4500 * 1000)
int flame_picture__write(FILE *out, const struct flame_picture *picture);

/* A weight of the earlier run as one of the later, rounded. */
uint64_t flame_picture__scale(const struct flame_picture *picture, uint64_t before);

/* 0 of nothing. */
double flame_picture__percent(uint64_t weight, uint64_t all);

#endif
