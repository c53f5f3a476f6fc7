/* SPDX-License-Identifier: GPL-2.0-or-later */
/* seen = counted + filtered + lost, read from the kernel and said to the user. */
#ifndef TRACEKIT_CORE_TRACE_ACCOUNTING_H
#define TRACEKIT_CORE_TRACE_ACCOUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct trace_maps;
struct error;

struct accounting {
	struct event_counters events; /* of all CPUs */
	bool missed_known;
	bool kernel_counts; /* the kernel has counted missed; we did not estimate it */
	uint64_t missed;    /* withheld by the kernel before a program ran */
};

void event_counters__add(struct event_counters *sum, const struct event_counters *counters);

/*
 * Add up the counters of an epoch that has ended, or whose programs have stopped.
 * Returns 0 or a negative errno with error filled.
 */
int accounting__read(struct accounting *accounting, const struct trace_maps *maps, uint32_t epoch,
		     struct error *error);

/*
 * The events that each CPU has seen in an epoch, by its number; the caller frees them. Returns how
 * many CPUs there can be, or a negative errno.
 */
int accounting__read_seen(const struct trace_maps *maps, uint32_t epoch, uint64_t **seen);

/* Samples of earlier epochs; all zero at first. */
struct past_samples {
	uint64_t seen, missed;
};

/*
 * Set missed: the kernel withheld the samples that were due and never seen. expected: how many were
 * due since the start of the trace; this epoch is added to *past. At the border of two epochs a
 * sample can be due in one and seen in the other, so only what is missing in all counts.
 */
void accounting__set_expected(struct accounting *accounting, uint64_t expected,
			      struct past_samples *past);

/* Set missed to the kernel's own count of what it withheld. */
void accounting__set_missed(struct accounting *accounting, uint64_t missed);

/* Events whose stacks are to be walked later, and have not been; they are lost if the trace ends.
 */
uint64_t accounting__not_walked(const struct accounting *accounting);

/* With those. */
uint64_t accounting__lost(const struct accounting *accounting);
uint64_t accounting__filtered(const struct accounting *accounting);

/*
 * "8 of 5120 events are not shown: 5 no room for their stack
 * (--stack-storage-size), 3 busy": what was lost, by reason, in one line.
 */
void accounting__format_loss(const struct accounting *accounting, char *line, size_t size);

/*
 * "5120 seen = 5100 counted + 12 filtered + 8 lost; 3 missed by the kernel", or
 * "...; what the kernel missed is not known" until one of the above has been called.
 */
void accounting__format_stats(const struct accounting *accounting, char *line, size_t size);

#endif
