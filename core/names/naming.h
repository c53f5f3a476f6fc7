/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbolizer of a trace, with the best source of kernel names that there is. */
#ifndef TRACEKIT_CORE_NAMES_NAMING_H
#define TRACEKIT_CORE_NAMES_NAMING_H

#include <stdint.h>

#include "core/trace/session.h"

struct error;
struct naming;
struct symbolizer;
struct trace_processes;
struct unwind_module_list;

/*
 * Made before the trace begins, of a session that has been loaded: the processes that its options
 * name are remembered, so that they have names when they end meanwhile. Returns 0 or -ENOMEM
 * with error filled.
 */
int naming__new(struct naming **naming, const struct session *session, struct error *error);
void naming__free(struct naming *naming);

/*
 * From now on have the kernel say what processes become, so that their user stacks can be
 * named when they are something else, or have ended. Without it they are named as they are at
 * the end. Returns 0 or a negative errno with error filled.
 */
int naming__watch(struct naming *naming, struct error *error);

/* As session__wait(), looking after the processes that are watched meanwhile. */
enum session_end naming__wait(struct naming *naming, struct session *session, uint64_t timeout);

struct symbolizer *naming__symbolizer(struct naming *naming);

/* The files that user frames are in; NULL: there are no such frames. */
const struct unwind_module_list *naming__modules(const struct naming *naming);

/* NULL: they are not watched. */
struct trace_processes *naming__processes(struct naming *naming);

#endif
