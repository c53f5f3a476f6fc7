/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a trace reports, and when it ends: -i and -D. */
#ifndef TRACEKIT_CORE_TRACE_SCHEDULE_H
#define TRACEKIT_CORE_TRACE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* All in nanoseconds. */
struct schedule {
	uint64_t start;	   /* by the same clock as now */
	uint64_t interval; /* from report to report; 0: one at the end */
	uint64_t duration; /* 0: no end */
};

/*
 * The time to the next report, at least 1; 0 if none is planned. Reports keep to their times,
 * however long they take; missed ones are left out.
 */
uint64_t schedule__wait(const struct schedule *schedule, uint64_t now);

bool schedule__is_over(const struct schedule *schedule, uint64_t now);

#endif
