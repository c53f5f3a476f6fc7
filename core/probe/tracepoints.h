/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's tracepoints, as tracefs shows them: events/CATEGORY/EVENT is a folder
 * with a file enable. Source of the format: the kernel's Documentation/trace/events.rst.
 */
#ifndef TRACEKIT_CORE_PROBE_TRACEPOINTS_H
#define TRACEKIT_CORE_PROBE_TRACEPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/util/arena.h"

struct error;
struct probespec;

struct tracepoint {
	const char *category, *name; /* in the list's arena */
	bool dynamic;		     /* user-defined; the code can have another one of this name */
};

struct tracepoint_list {
	struct tracepoint *tracepoints; /* by category, then by name */
	size_t nr, capacity;
	struct arena names;
	int events; /* descriptor of the folder that they are in; negative: it is closed to us */
};

/*
 * List the tracepoints that spec, of the kind PROBE_TRACEPOINT, matches: at least one. Events of
 * the category ftrace cannot be attached to, and are left out. tracefs is the result of
 * kernel_fs__open() for it, or a descriptor of a folder that looks like it; it remains the
 * caller's. Returns 0, or with error filled and *list untouched: -ENOENT (none matches, or there is
 * no tracefs), -EACCES, -ENOMEM or another negative errno.
 */
int tracepoint_list__find(struct tracepoint_list *list, const struct probespec *spec, int tracefs,
			  struct error *error);

/*
 * A list of the one tracepoint that spec, which has no wildcards, names, where tracefs cannot be
 * read: nothing is looked up, and events is negative. Returns 0, or -ENOMEM with error filled.
 */
int tracepoint_list__name(struct tracepoint_list *list, const struct probespec *spec,
			  struct error *error);
void tracepoint_list__release(struct tracepoint_list *list);

/*
 * The number by which perf_event_open(2) knows a tracepoint of the list. Returns 0, or a
 * negative errno with error filled: -ENOENT if it has gone, with its module.
 */
int tracepoint_list__read_id(const struct tracepoint_list *list,
			     const struct tracepoint *tracepoint, uint64_t *id,
			     struct error *error);

#endif
