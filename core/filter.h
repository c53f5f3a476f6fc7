/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes a trace is about: the user's side of bpf/filter.bpf.h. */
#ifndef TRACEKIT_CORE_FILTER_H
#define TRACEKIT_CORE_FILTER_H

struct bpf_object;
struct error;
struct trace_config;
struct trace_options;

/*
 * Between open and load of object: the settings of the filter go into config,
 * the user's pinned maps into the object's places for them, and the maps that no
 * option needs are switched off. Returns 0 or a negative errno with error filled.
 */
int filter__configure(const struct trace_options *options, struct bpf_object *object,
		      struct trace_config *config, struct error *error);

/* Once object is loaded: fill the maps that are its own. Returns as filter__configure(). */
int filter__fill(const struct trace_options *options, struct bpf_object *object,
		 struct error *error);

#endif
