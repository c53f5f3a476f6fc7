/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes that a trace is about: the user space side of bpf/filter.bpf.h. */
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

/* Once the maps are created: fill our own, not the pinned ones. Returns as filter__configure(). */
int filter__fill(const struct trace_options *options, const struct trace_maps *maps,
		 struct error *error);

/*
 * True if a load failed with code because of one of the user's maps, as far as can be told; then
 * error is filled.
 */
bool filter__explains(const struct trace_maps *maps, int code, struct error *error);

#endif
