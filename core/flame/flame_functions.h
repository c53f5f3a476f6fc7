/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of a flame graph, with what they weigh in all of its stacks together. */
#ifndef TRACEKIT_CORE_FLAME_FLAME_FUNCTIONS_H
#define TRACEKIT_CORE_FLAME_FLAME_FUNCTIONS_H

#include <stdint.h>
#include <stdio.h>

#include "sym/util/pointer_map.h"

struct flame_picture;

struct flame_function {
	const char *text;
	uint64_t self;			    /* weight of the stacks that end in it */
	uint64_t total;			    /* of those that it is in, however often */
	uint64_t self_before, total_before; /* both of the earlier run, scaled */
	uint32_t open;			    /* for counting: how often it is on the way to a node */
};

struct flame_functions {
	struct flame_function *items;
	size_t nr, capacity;
	struct pointer_map numbers; /* of items, by text; 1 more */
};

enum flame_order { FLAME_BY_SELF, FLAME_BY_TOTAL };

/*
 * The largest come first; if there is an earlier run, those that have changed most. Texts belong to
 * the tree of the picture. Returns 0 or -ENOMEM; either way flame_functions__release() is due.
 */
int flame_functions__count(struct flame_functions *functions, const struct flame_picture *picture,
			   enum flame_order order);
void flame_functions__release(struct flame_functions *functions);

/* Print the first of them, nr at most, as a table. */
void flame_functions__print(FILE *out, const struct flame_functions *functions, uint64_t nr,
			    const struct flame_picture *picture);

#endif
