/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace that counts events by their stacks, from the first event to the last report. */
#ifndef TRACEKIT_CORE_RUN_COUNTING_H
#define TRACEKIT_CORE_RUN_COUNTING_H

#include "core/report/output.h"
#include "core/report/report.h"
#include "core/run/tracing.h"
#include "core/trace/epochs.h"

struct sampler;

struct counting {
	struct tracing tracing;
	/* The applet's. */
	struct sampler *sampler;    /* where events come from; NULL: from the probes of tracing */
	struct stack_writer writer; /* layout, comms, processes, annotations */
	void (*print_head)(void);   /* above each report; or NULL */

	/* For counting__run(). */
	struct epochs epochs;
	struct report_said said;
};

/*
 * Load what tracing__open() has opened, and make ready for the first event. Returns 0 or a
 * negative errno with error filled; counting__release() is due in any case.
 */
int counting__load(struct counting *counting, struct error *error);

/*
 * Events come by now, and the applet's header is in stdout: from report to report, to the last.
 * Returns 0, or a negative errno with error filled, or left empty as by output__failed().
 */
int counting__run(struct counting *counting, struct error *error);

void counting__release(struct counting *counting);

#endif
