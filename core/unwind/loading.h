/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The work of the process that loads tables (core/unwind/loader.h): the programs tell it which
 * files their walks came to; its children read them, and it fills the tables.
 */
#ifndef TRACEKIT_CORE_UNWIND_LOADING_H
#define TRACEKIT_CORE_UNWIND_LOADING_H

#include <stdint.h>

#include "core/options/pid_list.h"
#include "core/unwind/later.h"
#include "core/unwind/modules.h"

struct unwind_maps;

/* Processes whose files are loaded first, before the trace begins, or a command before it runs. */
struct unwind_first {
	struct pid_list pids;
	const char
		*program; /* the path of the command's file; or NULL: then also what that needs */
	uint64_t until;	  /* but no longer than until then, in monotonic_now() */
	size_t alike;	  /* not 0: after so many processes in a row without a new file, no other */
};

/*
 * All but socket and told: as of unwind_loader__start(). A byte is written to socket when the files
 * of the first processes are loaded, or their time is over; and one for each byte that comes there,
 * when all files are found that walks had come to by then, as far as they can be, and the stacks
 * that were to be walked later have been. Returns 0 when
 * socket is hung up, or a negative errno if it could not begin.
 */
int unwind_loading__run(const struct unwind_maps *maps, const struct unwind_identifier *identifier,
			const struct unwind_first *first, const struct later_setup *later,
			uint64_t memory, int socket, int files, struct unwind_told *told);

#endif
