// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace_maps.h"

#include <bpf/libbpf.h>
#include <errno.h>

#include "core/util/array.h"

int trace_maps__find(struct trace_maps *maps, const struct bpf_object *object)
{
	struct trace_maps found;
	const struct {
		const char *name;
		struct bpf_map **map;
	} wanted[] = {
		{"event_counters", &found.event_counters},
		{"epoch", &found.epoch},
		{"stacks", &found.stacks},
		{"counts", &found.counts},
		{"targets", &found.targets},
		{"cgroup_ids", &found.cgroup_ids},
		{"mount_namespaces", &found.mount_namespaces},
		{"cgroup", &found.cgroup},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		*wanted[i].map = bpf_object__find_map_by_name(object, wanted[i].name);
		if (!*wanted[i].map)
			return -ENOENT;
	}
	*maps = found;
	return 0;
}
