/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs, libraries and kernel modules that the frames of a report are in, as a profile of
 * pprof has them. Processes have a file at different addresses: here each file is at one, of our
 * choice, so that a place in it is one address whichever process was there.
 */
#ifndef TRACEKIT_CORE_FORMAT_PPROF_MAPPINGS_H
#define TRACEKIT_CORE_FORMAT_PPROF_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/util/text_set.h"

struct shown_stacks;

struct pprof_mapping {
	char *path, *build_id; /* safe to print; build_id may be "" */
	bool kernel;	       /* its addresses are the kernel's own */
	uint64_t start, size;  /* the address where it is told to be, and its bytes */
	uint64_t offset;       /* of start in the file */
	bool has_names, has_files, has_lines, has_inlined; /* all frames have, some have */
};

struct pprof_mappings {
	struct pprof_mapping *items; /* what most stacks begin in is the first: the main program */
	size_t nr, capacity;
	/* By the number of a frame in struct frame_names. */
	struct pprof_frame {
		uint32_t mapping; /* 1 more than its index; 0: none */
		uint64_t address;
	} * frames;
	struct text_set names; /* of items: path and build ID */
};

/* Returns 0 or -ENOMEM; either way pprof_mappings__release() is due. */
int pprof_mappings__collect(struct pprof_mappings *mappings, const struct shown_stacks *shown);
void pprof_mappings__release(struct pprof_mappings *mappings);

#endif
