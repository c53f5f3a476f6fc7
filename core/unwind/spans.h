/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is free of numbered units, in spans: the first that is large enough is taken from. */
#ifndef TRACEKIT_CORE_UNWIND_SPANS_H
#define TRACEKIT_CORE_UNWIND_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
	uint64_t first; /* as array__lower_bound() wants it */
	uint64_t nr;
};

/* All zero is: nothing is free. */
struct spans {
	struct span *items; /* sorted; no two of them touch */
	size_t nr, capacity;
	uint64_t nr_units;
};

void spans__release(struct spans *spans);

/* Units that are not free become free. Returns 0, or -ENOMEM: they are lost. */
int spans__give(struct spans *spans, uint32_t first, uint32_t nr);

/*
 * Take nr units, not 0, of one block: units from one multiple of block to the next. *first becomes
 * the number of the first. Returns false if there are none.
 */
bool spans__take(struct spans *spans, uint32_t nr, uint32_t block, uint32_t *first);

#endif
