/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the tables by which user stacks are walked up to date: a process of its own, so that a
 * trace waits for no file, however large. It hears from the kernel what processes map, and from
 * the programs what their walks lack; it reads that (sym/cfi/table_reader.h), and puts it there.
 */
#ifndef TRACEKIT_CORE_UNWIND_LOADER_H
#define TRACEKIT_CORE_UNWIND_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/unwind/loading.h"

struct unwind_loader;

/*
 * pids: those of which all that they have mapped is loaded at once, and that alone are listened
 * to; empty: nothing is, and all are. memory: of tables, in bytes. maps are borrowed.
 * Returns 0 or a negative errno.
 */
int unwind_loader__start(struct unwind_loader **loader, const struct unwind_maps *maps,
			 const struct pid_list *pids, uint64_t memory);

/* Wait until it is ready, or has ended, for so many milliseconds at most. Returns whether it is. */
bool unwind_loader__await(const struct unwind_loader *loader, int milliseconds);

/* Those of which frames can be: filled as more come; valid as long as the loader is. */
const struct unwind_module_list *unwind_loader__modules(const struct unwind_loader *loader);

/* It has, though nobody has asked it to: what it knew is not brought up to date any more. */
bool unwind_loader__has_ended(struct unwind_loader *loader);

struct unwind_status unwind_loader__status(const struct unwind_loader *loader);

/* NULL is allowed. */
void unwind_loader__stop(struct unwind_loader *loader);

#endif
