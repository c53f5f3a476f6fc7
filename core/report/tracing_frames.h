/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a tracepoint puts on top of the stack of the place where it is. */
#ifndef TRACEKIT_CORE_REPORT_TRACING_FRAMES_H
#define TRACEKIT_CORE_REPORT_TRACING_FRAMES_H

#include <stdbool.h>

/* Whether a kernel function with this name is a raw tracepoint's program, or calls it. */
bool tracing_frame__is(const char *name);

#endif
