/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frames that a tracepoint puts on top of the stack of its place. */
#ifndef TRACEKIT_CORE_REPORT_TRACING_FRAMES_H
#define TRACEKIT_CORE_REPORT_TRACING_FRAMES_H

#include <stdbool.h>

/* True if a kernel function with this name is a raw tracepoint's program, or calls it. */
bool tracing_frame__is(const char *name);

#endif
