/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports at intervals that neither lose events nor count them twice (bpf/abi.h). To end an epoch,
 * have all further events count in the other one, and wait until every program that began in the
 * old one is done. Then the old epoch's part of the tables is at rest, and can be read and emptied
 * while events go on.
 */
#ifndef TRACEKIT_CORE_TRACE_EPOCHS_H
#define TRACEKIT_CORE_TRACE_EPOCHS_H

#include <stdint.h>

#include "core/kernel/grace.h"

struct bpf_map;
struct error;
struct trace_maps;

struct epochs {
	const struct trace_maps *maps; /* borrowed */
	/*
	 * Threads that wait, and were walked when they left: their stacks stay until they have come
	 * back, and are counted in a later epoch. NULL: there are none. The caller's, borrowed.
	 */
	const struct bpf_map *threads;
	uint32_t current;
	struct grace grace;
};

/* The first epoch is 0. Returns 0 or a negative errno with error filled. */
int epochs__open(struct epochs *epochs, const struct trace_maps *maps, struct error *error);
void epochs__close(struct epochs *epochs);

/*
 * End the current epoch: *ended is its number, and no program counts in it any
 * more. Returns 0 or a negative errno with error filled.
 */
int epochs__turn(struct epochs *epochs, uint32_t *ended, struct error *error);

/* End the last epoch: waits are not counted any more. Returns as above. */
int epochs__end(struct epochs *epochs, uint32_t *ended, struct error *error);

/* Empty the tables of an epoch that has ended. Returns 0 or a negative errno with error filled. */
int epochs__clear(const struct epochs *epochs, uint32_t ended, struct error *error);

#endif
