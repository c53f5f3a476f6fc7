/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the tables of user stacks' walks up to date. It is a process of its own, so that a trace
 * waits for no file, however large. The programs tell it what their walks lack; it reads that
 * (sym/cfi/table_reader.h), and puts it into the tables.
 */
#ifndef TRACEKIT_CORE_UNWIND_LOADER_H
#define TRACEKIT_CORE_UNWIND_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/unwind/loading.h"

struct unwind_loader;

/*
 * memory: of tables, in bytes; 0: there are none, and files are only found. files: programs are
 * passed there (sym/process/passed_file.h). The rest is borrowed. Returns 0 or a negative errno.
 */
int unwind_loader__start(struct unwind_loader **loader, const struct unwind_maps *maps,
			 const struct unwind_identifier *identifier,
			 const struct unwind_first *first, const struct later_setup *later,
			 uint64_t memory, int files);

/*
 * Wait until the files of the first processes are loaded, or it has ended, for so many nanoseconds
 * at most. True if they are, or it has.
 */
bool unwind_loader__await(const struct unwind_loader *loader, uint64_t nanoseconds);

/*
 * Wait until all files are found that walks have come to by now, as far as they can be, and all
 * stacks are walked that were to be walked later; for so many nanoseconds at most.
 */
void unwind_loader__settle(struct unwind_loader *loader, uint64_t nanoseconds);

/* The modules that frames can have: filled as more come; valid as long as the loader is. */
const struct unwind_module_list *unwind_loader__modules(const struct unwind_loader *loader);

/* True if it has ended by itself: the tables are not brought up to date any more. */
bool unwind_loader__has_ended(struct unwind_loader *loader);

struct unwind_status unwind_loader__status(const struct unwind_loader *loader);

/* NULL is allowed. */
void unwind_loader__stop(struct unwind_loader *loader);

#endif
