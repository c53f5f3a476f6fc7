/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbolizer of a trace, with the best source of kernel names that there is. */
#ifndef TRACEKIT_CORE_NAMING_H
#define TRACEKIT_CORE_NAMING_H

struct error;
struct naming;
struct symbolizer;
struct trace_options;

/*
 * Made before the trace begins: the processes that options name are remembered,
 * so that they have names when they end meanwhile. Returns 0 or -ENOMEM with
 * error filled.
 */
int naming__new(struct naming **naming, const struct trace_options *options, struct error *error);
void naming__free(struct naming *naming);

struct symbolizer *naming__symbolizer(struct naming *naming);

#endif
