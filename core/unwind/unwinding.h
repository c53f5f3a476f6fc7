/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the user stacks of a trace are walked: what is switched on for it, and kept going. */
#ifndef TRACEKIT_CORE_UNWIND_UNWINDING_H
#define TRACEKIT_CORE_UNWIND_UNWINDING_H

#include <stdbool.h>

struct bpf_object;
struct error;
struct event_counters;
struct trace_config;
struct trace_options;
struct unwind_module_list;
struct unwinding;

/*
 * Between open and load of object: config says how user stacks are walked, and what is not
 * needed for that is switched off. Returns 0 or a negative errno with error filled.
 */
int unwinding__configure(struct unwinding **unwinding, const struct trace_options *options,
			 struct bpf_object *object, struct trace_config *config,
			 struct error *error);
/* NULL is allowed. */
void unwinding__free(struct unwinding *unwinding);

/*
 * The object has been loaded: if that is how stacks are walked, have what the processes that
 * options name have mapped loaded, for which it waits a little, but not once stop_fd is readable.
 * Returns as above.
 */
int unwinding__start(struct unwinding *unwinding, int stop_fd, struct error *error);

/*
 * Those of which user frames can be, once it has been started; they stay as long as it does. NULL:
 * none are.
 */
const struct unwind_module_list *unwinding__modules(const struct unwinding *unwinding);

/* Say on stderr what is missing; with stats also by what stacks are walked, and how that ended. */
void unwinding__say(const struct unwinding *unwinding, const struct event_counters *counters,
		    bool stats);

#endif
