/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the process does that loads tables (core/unwind/loader.h): it hears from the kernel what
 * processes map, and from the programs what their walks lacked, has files read by children, and
 * puts all that into the tables.
 */
#ifndef TRACEKIT_CORE_UNWIND_LOADING_H
#define TRACEKIT_CORE_UNWIND_LOADING_H

#include <stdint.h>

#include "core/unwind/modules.h"

struct pid_list;
struct unwind_maps;

/* How it is, as it says itself. */
struct unwind_status {
	uint32_t no_records;	/* it does not hear what processes map: -errno, or 0 */
	uint32_t nr_loaded;	/* files */
	uint32_t nr_refused;	/* likewise, which did not answer, or could not be read */
	uint32_t out_of_memory; /* files for which there was none left */
	uint32_t no_modules;	/* likewise, of numbers that frames can have */
	uint32_t no_room;	/* processes, as often as it was not there for what they have */
	uint32_t failed;	/* why it could not begin: -errno, or 0 */
	uint64_t memory;	/* bytes of tables */
};

/* What it tells those who only read it. */
struct unwind_told {
	volatile struct unwind_status status;
	struct unwind_module_list modules;
};

/*
 * pids, maps and memory: as of unwind_loader__start(). A byte is written to socket when what the
 * processes have is loaded; it returns when that is hung up: 0, or a negative errno if it could not
 * begin.
 */
int unwind_loading__run(const struct unwind_maps *maps, const struct pid_list *pids,
			uint64_t memory, int socket, struct unwind_told *told);

#endif
