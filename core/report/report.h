/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that a trace has to say: counted stacks, their names, and what is missing. */
#ifndef TRACEKIT_CORE_REPORT_REPORT_H
#define TRACEKIT_CORE_REPORT_REPORT_H

#include <stdbool.h>

#include "core/names/frame_names.h"
#include "core/trace/accounting.h"
#include "core/trace/stacks.h"

struct error;
struct naming;
struct session;
struct trace_maps;

struct report {
	struct accounting accounting;
	struct stack_counts counts;
	struct frame_names names;
};

/*
 * Read the counts of an epoch from the maps, and name them. The epoch has ended, or its programs
 * have stopped. Returns 0 or a negative errno with error filled; either way report__release() is
 * due.
 */
int report__read(struct report *report, const struct trace_maps *maps, uint32_t epoch,
		 struct naming *naming, struct error *error);
void report__release(struct report *report);

/* Show the kernel stacks of raw tracepoints from where the tracepoint is. */
void report__hide_tracing(struct report *report);

/* Messages that were printed once, and are not repeated at each interval. */
struct report_said {
	bool kernel_error, user_error, lost_files, incomplete_debug, hidden, scripts;
	size_t unanswered;
};

/*
 * Say on stderr what the report does not show and why: losses, missing names, incomplete stacks,
 * and with --stats what became of every event and what that cost. Applets call it when stdout is
 * done. session: NULL if the report does not count all events.
 */
void report__say_what_is_missing(const struct report *report, const struct session *session,
				 struct report_said *said);

/* Of samples: say on stderr what would give scripts and generated code names, if most are there. */
void report__say_scripts(const struct report *report, struct report_said *said);

/* What the trace has cost by now. */
void report__say_cost(const struct session *session);

#endif
