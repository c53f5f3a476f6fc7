/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Containers by the IDs of their cgroups, as BPF programs tell them. */
#ifndef TRACEKIT_CORE_TRACE_CONTAINERS_H
#define TRACEKIT_CORE_TRACE_CONTAINERS_H

#include <stdint.h>

#include "sym/util/arena.h"
#include "sym/util/pointer_map.h"

/* How much of an ID people are shown, as by other tools. */
#define CONTAINER_SHORT 12

/* All zero: no cgroup is known yet. */
struct containers {
	struct pointer_map ids; /* by the ID of a cgroup: that of its container, or "" */
	struct arena names;
	uint64_t read; /* when they were listed last; 0: not yet */
};

/*
 * List the cgroups of version 2, and keep those that have gone since the last time. Returns 0 or
 * a negative errno: -ENOENT if none are mounted. What is listed by then counts in any case.
 */
int containers__read(struct containers *containers);

/*
 * The ID of the container whose processes are in the cgroup, of any bytes, valid until
 * containers__release(); NULL if it is in none, or is not known. Lists cgroups again if this one
 * is new.
 */
const char *containers__find(struct containers *containers, uint64_t cgroup);

void containers__release(struct containers *containers);

#endif
