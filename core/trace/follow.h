/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descendants of the processes that a trace is about: the user space side of bpf/follow.bpf.h. */
#ifndef TRACEKIT_CORE_TRACE_FOLLOW_H
#define TRACEKIT_CORE_TRACE_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_map;
struct bpf_object;
struct error;
struct pid_list;
struct trace_config;
struct trace_maps;
struct trace_options;

/* All zero follows nobody. */
struct follow {
	struct bpf_object *object;
	const struct bpf_map *map;
	const struct trace_config *config;
	uint8_t *bytes; /* by PID; NULL: not mapped */
	int hooks[2];
	int nr_hooks;
};

/*
 * Between open and load of object, which outlives it: have loaded what options need. Returns 0 or a
 * negative errno with error filled.
 */
int follow__configure(struct follow *follow, const struct trace_options *options,
		      const struct trace_maps *maps, struct bpf_object *object,
		      const struct trace_config *config, struct error *error);

/*
 * Once it is loaded: from now on what these processes fork is followed, as they are themselves; and
 * config->workload from its next exec() on. Returns as above.
 */
int follow__start(struct follow *follow, const struct pid_list *pids, struct error *error);

/*
 * config->workload is followed in any case: a kernel that preempts the hook can have passed it
 * over.
 */
void follow__workload(const struct follow *follow);

/*
 * Whether a process that is followed is still there, besides the workload. In a PID namespace,
 * where their PIDs are not known, nobody is.
 */
bool follow__anyone(const struct follow *follow);

void follow__release(struct follow *follow);

#endif
