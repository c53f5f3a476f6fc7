// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/maps.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "sym/util/array.h"
#include "sym/util/error.h"

int trace_maps__find(struct trace_maps *maps, const struct bpf_object *object)
{
	struct trace_maps found;
	const struct {
		const char *name;
		struct bpf_map **map;
		bool optional;
	} wanted[] = {
		{"event_counters", &found.event_counters, false},
		{"epoch", &found.epoch, false},
		{"scratch_slots", &found.scratch_slots, false},
		{"stacks", &found.stacks, false},
		{"counts", &found.counts, true},
		{"off_threads", &found.off_threads, true},
		{"events", &found.events, true},
		{"lost_events", &found.lost_events, true},
		{"targets", &found.targets, false},
		{"cgroup_ids", &found.cgroup_ids, false},
		{"mount_namespaces", &found.mount_namespaces, false},
		{"cgroup", &found.cgroup, false},
		{"followed", &found.followed, false},
		{"own", &found.own, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		*wanted[i].map = bpf_object__find_map_by_name(object, wanted[i].name);
		if (!*wanted[i].map && !wanted[i].optional)
			return -ENOENT;
	}
	*maps = found;
	return 0;
}

int trace_map__create_if(struct bpf_map *map, bool wanted, struct error *error)
{
	int err = bpf_map__set_autocreate(map, wanted);

	return err ? error__set(error, err, "cannot set up the map %s: %s", bpf_map__name(map),
				strerror(-err)) :
		     0;
}
