/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that a pprof profile wants to be dropped, with all that they call: those of which
 * drop_frames matches the name, without arguments, and keep_frames does not. An allocator hides its
 * inner functions so.
 */
#ifndef TRACEKIT_CORE_INPUT_PPROF_DROP_H
#define TRACEKIT_CORE_INPUT_PPROF_DROP_H

struct pprof_tables;

/*
 * Note in all locations of tables, which are complete, what becomes of them; calls that were
 * inlined into a dropped function are removed. Returns 0 or -ENOMEM.
 */
int pprof_drop__mark(struct pprof_tables *tables);

#endif
