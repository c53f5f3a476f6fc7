/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The maps that tracing programs share with user space. */
#ifndef TRACEKIT_CORE_TRACE_MAPS_H
#define TRACEKIT_CORE_TRACE_MAPS_H

#include <stdbool.h>

struct bpf_map;
struct bpf_object;
struct error;

/* The maps of an opened object, named as in bpf/. */
struct trace_maps {
	struct bpf_map *event_counters;
	struct bpf_map *epoch;
	struct bpf_map *scratch_slots;
	struct bpf_map *stacks;
	struct bpf_map *counts; /* NULL in a stream */
	struct bpf_map *off_threads;
	struct bpf_map *events; /* NULL where events are counted, as is lost_events */
	struct bpf_map *lost_events;
	struct bpf_map *targets;
	struct bpf_map *cgroup_ids;
	struct bpf_map *mount_namespaces;
	struct bpf_map *cgroup;
	struct bpf_map *followed;
	struct bpf_map *own;
};

/*
 * Find the maps by their names, before pinned maps take the places of some: a pinned map brings its
 * own name along, which can be any. Returns 0, or -ENOENT with *maps untouched.
 */
int trace_maps__find(struct trace_maps *maps, const struct bpf_object *object);

/*
 * Between open and load: a map that belongs to an option is not created without it. Returns 0 or a
 * negative errno with error filled.
 */
int trace_map__create_if(struct bpf_map *map, bool wanted, struct error *error);

#endif
