/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes a trace is about: the user's side of bpf/filter.bpf.h. */
#ifndef TRACEKIT_CORE_TRACE_FILTER_H
#define TRACEKIT_CORE_TRACE_FILTER_H

#include <stdbool.h>

struct error;
struct trace_config;
struct trace_maps;
struct trace_options;

/*
 * Between open and load: the settings of the filter go into config, the user's
 * pinned maps into the places for them, and the maps that no option needs are
 * switched off. Returns 0 or a negative errno with error filled.
 */
int filter__configure(const struct trace_options *options, const struct trace_maps *maps,
		      struct trace_config *config, struct error *error);

/*
 * Once they are created: fill the maps that are the program's own. Returns as filter__configure().
 */
int filter__fill(const struct trace_options *options, const struct trace_maps *maps,
		 struct error *error);

/*
 * Whether a load that failed with code did so because of one of the user's maps, as
 * far as can be told; then error is filled.
 */
bool filter__explains(const struct trace_maps *maps, int code, struct error *error);

#endif
