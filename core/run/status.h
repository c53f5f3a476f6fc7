/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line on the terminal that says how far a trace is, rewritten every second: nothing where stderr
 * is no terminal.
 */
#ifndef TRACEKIT_CORE_RUN_STATUS_H
#define TRACEKIT_CORE_RUN_STATUS_H

#include <stdbool.h>
#include <stdint.h>

struct accounting;

struct status {
	uint64_t start, duration; /* of the trace, in nanoseconds; duration 0: no end */
	const char *unit;	  /* of what is counted */
	bool on;
	bool drawn; /* the line is there */
};

/* unit is kept by reference. wanted: stderr may have the line. */
void status__begin(struct status *status, bool wanted, uint64_t start, uint64_t duration,
		   const char *unit);

/* The time to the next drawing, in nanoseconds; 0: there will be none. */
uint64_t status__wait(const struct status *status, uint64_t now);

void status__draw(struct status *status, uint64_t now, const struct accounting *accounting);

/* Take the line away, before anything else is printed. */
void status__clear(struct status *status);

#endif
