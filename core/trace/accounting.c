// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/accounting.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/cpus.h"
#include "core/trace/maps.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/number.h"

static const struct {
	enum event_counter counter;
	const char *reason;
} losses[] = {
	{EVENTS_LOST_STACKS_FULL, "no room for their stack (--stack-storage-size)"},
	{EVENTS_LOST_KEYS_FULL, "no room for their key (--hash-storage-size)"},
	{EVENTS_LOST_THREADS_FULL, "no room for their threads"},
	{EVENTS_LOST_BUFFER_FULL, "no room in the buffer (--buffer-size)"},
	{EVENTS_LOST_BUSY, "busy"},
	{EVENTS_LOST_REFUSED, "table update refused"},
};

void event_counters__add(struct event_counters *sum, const struct event_counters *counters)
{
	for (int i = 0; i < NR_EVENT_COUNTERS; i++)
		sum->n[i] += counters->n[i];
	for (int i = 0; i < NR_UNWIND_ENDS; i++)
		sum->walks[i] += counters->walks[i];
	sum->keys += counters->keys;
	sum->lost_weight += counters->lost_weight;
}

/* Those of each CPU, which the caller frees. Returns how many CPUs, or a negative errno. */
static int read_each(const struct trace_maps *maps, uint32_t epoch, struct event_counters **out)
{
	CLEANUP_FREE struct event_counters *each = NULL;
	int cpus = cpus__count_possible(), err;

	if (cpus < 0)
		return cpus;
	each = calloc((size_t)cpus, sizeof(*each));
	if (!each)
		return -ENOMEM;
	err = bpf_map_lookup_elem(bpf_map__fd(maps->event_counters), &epoch, each);
	if (err)
		return err;
	*out = TAKE_POINTER(each);
	return cpus;
}

int accounting__read(struct accounting *accounting, const struct trace_maps *maps, uint32_t epoch,
		     struct error *error)
{
	CLEANUP_FREE struct event_counters *each = NULL;
	struct event_counters sum = {0};
	int cpus = read_each(maps, epoch, &each);

	if (cpus < 0)
		return error__set(error, cpus, "cannot read the event counters: %s",
				  strerror(-cpus));
	for (int cpu = 0; cpu < cpus; cpu++)
		event_counters__add(&sum, &each[cpu]);
	accounting->events = sum;
	return 0;
}

int accounting__read_seen(const struct trace_maps *maps, uint32_t epoch, uint64_t **out)
{
	CLEANUP_FREE struct event_counters *each = NULL;
	int cpus = read_each(maps, epoch, &each);
	uint64_t *seen;

	if (cpus < 0)
		return cpus;
	seen = calloc((size_t)cpus, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	for (int cpu = 0; cpu < cpus; cpu++)
		seen[cpu] = each[cpu].n[EVENTS_SEEN];
	*out = seen;
	return cpus;
}

void accounting__set_expected(struct accounting *accounting, uint64_t expected,
			      struct past_samples *past)
{
	uint64_t missed;

	past->seen += accounting->events.n[EVENTS_SEEN];
	/* The last sample of a CPU can be seen just before its clock says that it is due. */
	missed = expected > past->seen ? expected - past->seen : 0;
	accounting->missed_known = true;
	accounting->missed = missed > past->missed ? missed - past->missed : 0;
	past->missed += accounting->missed;
}

void accounting__set_missed(struct accounting *accounting, uint64_t missed)
{
	accounting->missed_known = true;
	accounting->kernel_counts = true;
	accounting->missed = missed;
}

uint64_t accounting__not_walked(const struct accounting *accounting)
{
	const __u64 *n = accounting->events.n;

	return n[EVENTS_LATER] > n[EVENTS_WALKED] ? n[EVENTS_LATER] - n[EVENTS_WALKED] : 0;
}

uint64_t accounting__lost(const struct accounting *accounting)
{
	uint64_t lost = accounting__not_walked(accounting);

	for (size_t i = 0; i < ARRAY_SIZE(losses); i++)
		lost += accounting->events.n[losses[i].counter];
	return lost;
}

uint64_t accounting__filtered(const struct accounting *accounting)
{
	return accounting->events.n[EVENTS_FILTERED] + accounting->events.n[EVENTS_FILTERED_PIDNS];
}

void accounting__format_loss(const struct accounting *accounting, char *line, size_t size)
{
	const char *separator = ":";
	int used =
		snprintf(line, size, "%" PRIu64 " of %" PRIu64 " events are not shown",
			 accounting__lost(accounting), (uint64_t)accounting->events.n[EVENTS_SEEN]);

	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		uint64_t lost = accounting->events.n[losses[i].counter];

		if (!lost || (size_t)used >= size)
			continue;
		used += snprintf(line + used, size - (size_t)used, "%s %" PRIu64 " %s", separator,
				 lost, losses[i].reason);
		separator = ",";
	}
	if (accounting__not_walked(accounting) && (size_t)used < size)
		used += snprintf(line + used, size - (size_t)used,
				 "%s %" PRIu64 " whose stacks were not walked in time", separator,
				 accounting__not_walked(accounting));
	if (accounting->events.lost_weight && (size_t)used < size)
		snprintf(line + used, size - (size_t)used, "; they lasted %.3f s",
			 (double)accounting->events.lost_weight / NANOSECONDS);
}

void accounting__format_stats(const struct accounting *accounting, char *line, size_t size)
{
	int used = snprintf(line, size,
			    "%" PRIu64 " seen = %" PRIu64 " counted + %" PRIu64
			    " filtered + %" PRIu64 " lost; ",
			    (uint64_t)accounting->events.n[EVENTS_SEEN],
			    (uint64_t)accounting->events.n[EVENTS_COUNTED],
			    accounting__filtered(accounting), accounting__lost(accounting));

	if ((size_t)used >= size)
		return;
	if (accounting->missed_known)
		snprintf(line + used, size - (size_t)used, "%" PRIu64 " missed by the kernel",
			 accounting->missed);
	else
		snprintf(line + used, size - (size_t)used, "what the kernel missed is not known");
}
