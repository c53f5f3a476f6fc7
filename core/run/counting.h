/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace that counts events by their stacks, from the first event to the last report. */
#ifndef TRACEKIT_CORE_RUN_COUNTING_H
#define TRACEKIT_CORE_RUN_COUNTING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/format/sink_options.h"
#include "core/report/report.h"
#include "core/run/status.h"
#include "core/run/tracing.h"
#include "core/trace/epochs.h"
#include "core/trace/waits.h"

struct sampler;

/* The BPF programs of applets that count; each has those loaded that it uses. */
extern const struct trace_program counting_program;

/* Reports that are in no file (any more). */
struct unkept_reports {
	int last;	  /* why the last one could not be written */
	uint64_t nr;	  /* that could not be written */
	uint64_t events;  /* counted in these */
	uint64_t removed; /* --spool-max */
	bool stuck;	  /* some could not be removed, which was said */
};

struct counting {
	struct tracing tracing;
	/* The applet's. */
	/* Where events come from; neither: from the probes of tracing. */
	struct sampler *sampler;
	struct waits *waits;
	struct shown_stacks shown; /* layout, comms, processes, annotations, unit */
	const struct sink_options *sink;
	const void *settings; /* for these */
	/* In text: what is traced, and what stands above each report; the latter can be NULL. */
	void (*print_header)(FILE *out, const struct counting *counting);
	void (*print_head)(FILE *out, const struct counting *counting);

	/* For counting__run(). */
	uint64_t reports; /* that were made */
	struct unkept_reports unkept;
	uint64_t since; /* when the events of the next one began */
	struct epochs epochs;
	struct past_samples past; /* of the sampler */
	struct status status;
	struct report_said said;
	struct pending_waits pending;
	struct accounting all; /* the sum of all reports; events only */
};

/*
 * Load what tracing__open() has opened, and make ready for the first event. Returns 0 or a
 * negative errno with error filled; counting__release() is due in any case.
 */
int counting__load(struct counting *counting, struct error *error);

/*
 * Start the sampler, which is open, attach to waits, which are configured, or attach to what the
 * pattern matches: the first events come before this returns. Returns 0 or a negative errno with
 * error filled.
 */
int counting__start(struct counting *counting, struct error *error);

/* Text goes to stdout: there it is more than reports, for whoever waits for them. */
bool counting__talks(const struct counting *counting);

/*
 * Events come by now: from report to report, to the last.
 * Returns 0, or a negative errno with error filled, or left empty as by output__failed().
 */
int counting__run(struct counting *counting, struct error *error);

void counting__release(struct counting *counting);

#endif
