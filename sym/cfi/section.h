/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .eh_frame or .debug_frame of a file, as rows: each tells the rule from an address on.
 * Formats: DWARF 5, 6.4.1; Linux Standard Base Core 5.0, 10.5 and 10.6.
 */
#ifndef TRACEKIT_SYM_CFI_SECTION_H
#define TRACEKIT_SYM_CFI_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "sym/cfi/program.h"

struct processor;
struct work;

struct cfi_section {
	const struct processor *processor;
	struct cfi_bytes bytes;
	uint64_t address; /* of .eh_frame; 0 of .debug_frame */
	bool is_eh_frame;
};

/* Bytes that are read of .eh_frame_hdr: four, and a pointer. */
#define CFI_HEADER_SIZE 12

/*
 * Find the .eh_frame that a header at that address belongs to: for files without section headers.
 * False if the header names none, or none that can be read.
 */
bool cfi_section__find(struct cfi_bytes header, uint64_t address, uint64_t *eh_frame);

/*
 * Visit all rows of a 64-bit file in the order of their addresses; between functions, and at the
 * end, there is a row UNWIND_NONE. Nothing behind an unsound entry is read. Where functions
 * overlap, the one that begins later has the rest. An entry takes a few units of work, 16
 * instructions take one. Returns 0, -EFBIG if there is no more work left, -ENOMEM, or what visit
 * returned.
 */
int cfi_section__each_row(const struct cfi_section *section, const struct work *work,
			  cfi_visit visit, void *context);

#endif
