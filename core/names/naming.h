/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbolizer of a trace, with the best source of kernel names that there is. */
#ifndef TRACEKIT_CORE_NAMES_NAMING_H
#define TRACEKIT_CORE_NAMES_NAMING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/names/frame_names.h"
#include "core/trace/session.h"

struct error;
struct naming;
struct symbolizer;

/* What answers are to have beside names. */
struct naming_wishes {
	bool files;	/* paths and build IDs */
	bool addresses; /* of frames in files: where these were in their processes */
	bool starts;	/* of functions without a name */
	bool symbols;	/* names as they stand in their files */
};

/*
 * Call this before the trace begins, with a loaded session: what walks come to is held from then
 * on, so that it has names even if it is gone when the trace ends.
 * Returns 0 or -ENOMEM with error filled.
 */
int naming__new(struct naming **naming, const struct session *session,
		const struct naming_wishes *wishes, struct error *error);
void naming__free(struct naming *naming);

struct symbolizer *naming__symbolizer(struct naming *naming);

/* For the frames of counted stacks. */
struct frame_sources naming__sources(const struct naming *naming);

#endif
