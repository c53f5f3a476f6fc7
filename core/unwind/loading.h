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

/* The state of the loader, as it reports it. */
struct unwind_status {
	uint32_t nr_loaded;	/* files that have tables now */
	uint32_t nr_given_back; /* tables that were given back for others */
	uint32_t nr_refused;	/* files that did not answer, or could not be read */
	uint32_t out_of_memory; /* files for which no memory was left */
	uint32_t no_modules;	/* files for which no module number was left */
	uint32_t nr_late;	/* of the first files: not loaded when their time was over */
	uint32_t starved;	/* why files could not be read: EAGAIN, EMFILE or ENOMEM; or 0 */
	uint32_t failed;	/* why it could not begin: an errno, or 0 */
	uint64_t memory;	/* bytes of tables */
};

/* Shared memory that the loader writes, and others only read. */
struct unwind_told {
	volatile struct unwind_status status;
	struct unwind_module_list modules;
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
