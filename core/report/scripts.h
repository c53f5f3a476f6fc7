/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs whose functions no file names: scripts, which their interpreter's functions stand for,
 * and code that was generated. What helps has to be known before the trace.
 */
#ifndef TRACEKIT_CORE_REPORT_SCRIPTS_H
#define TRACEKIT_CORE_REPORT_SCRIPTS_H

struct frame_names;
struct stack_counts;

/* What would give most of these samples names, to be said in a line; NULL: nothing is to be said.
 */
const char *scripts__help(const struct stack_counts *counts, const struct frame_names *names);

#endif
