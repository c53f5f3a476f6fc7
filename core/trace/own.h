/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The trace leaves out our own processes: the user space side of bpf/own.bpf.h. */
#ifndef TRACEKIT_CORE_TRACE_OWN_H
#define TRACEKIT_CORE_TRACE_OWN_H

struct bpf_map;
struct bpf_object;
struct error;
struct own_bucket;
struct trace_config;
struct trace_maps;
struct trace_options;

/* All zero leaves nobody out. There can be one at a time. */
struct own {
	const struct bpf_object *object; /* NULL: nobody is left out */
	const struct bpf_map *map;
	struct own_bucket *buckets;
	int hook;
};

/*
 * Between open and load of object, which outlives it: if options do not say whom they mean, these
 * are not our own processes. Returns 0 or a negative errno with error filled.
 */
int own__configure(struct own *own, const struct trace_options *options,
		   const struct trace_maps *maps, struct bpf_object *object,
		   struct trace_config *config, struct error *error);

/* Once it is loaded: from now on this process and its children are left out. Returns as above. */
int own__start(struct own *own, struct error *error);

void own__release(struct own *own);

#endif
