/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits of threads, from sched_switch to their return: the user space side of bpf/waits.bpf.h. */
#ifndef TRACEKIT_CORE_TRACE_WAITS_H
#define TRACEKIT_CORE_TRACE_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

struct bpf_map;
struct bpf_object;
struct error;
struct trace_maps;

/* Which waits count; the defaults are all zero, but for max. */
struct wait_settings {
	uint64_t min, max; /* nanoseconds */
	uint64_t state;	   /* as in enum thread_state; or WAIT_ANY_STATE */
	enum thread_kind threads;
	bool pending; /* also those that last when the trace ends */
};

#define WAIT_ANY_STATE UINT64_MAX
#define WAIT_LONGEST   ((uint64_t)(INT64_MAX - INT64_MAX % 1000)) /* as max: no limit */

struct waits {
	struct wait_config config; /* what the programs have */
	struct bpf_object *object; /* borrowed */
	struct bpf_map *threads;
	bool pending; /* as in the settings */
	int hooks[3];
	int nr_hooks;
};

/* Waits that are wanted, and last when the trace ends. */
struct pending_waits {
	uint64_t nr;
	uint64_t time;		      /* nanoseconds until then, of all */
	struct event_counters events; /* what they, and those that are not wanted, come to */
};

/*
 * Between session__configure() and the load of object, which outlives it: choose the way, write
 * config, and have loaded what that needs. Returns 0 or a negative errno with error filled.
 */
int waits__configure(struct waits *waits, const struct wait_settings *settings,
		     struct bpf_object *object, struct trace_config *config, struct error *error);

/*
 * The threads, if they are walked when they leave: the stacks of those that wait must stay. NULL if
 * they are walked when they have come back.
 */
const struct bpf_map *waits__walked_before(const struct waits *waits);

/* Not every wait counts, however it is and however long. */
static inline bool waits__are_limited(const struct waits *waits)
{
	return !waits->config.any_state || waits->config.min || waits->config.max < WAIT_LONGEST;
}

/* Waits count from now on. Returns as above. */
int waits__attach(struct waits *waits, struct error *error);

/*
 * When the last epoch has ended, at time end (CLOCK_MONOTONIC): detach, and look for waits that
 * last. If settings ask for them they are put into the counts, as far as they have come by then.
 * Returns as above.
 */
int waits__end(struct waits *waits, const struct trace_maps *maps, uint64_t end,
	       struct pending_waits *pending, struct error *error);

void waits__release(struct waits *waits);

#endif
