/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call-frame instructions of one function, run from their beginning to their end
 * (DWARF 5, 6.4; the GNU extensions of .eh_frame: Linux Standard Base Core 5.0, 10.6).
 * The columns of the CFA, the frame pointer, the base register and the return address are kept. The
 * column of the stack pointer must say that it is the CFA, as it does if no instruction names it.
 */
#ifndef TRACEKIT_SYM_CFI_PROGRAM_H
#define TRACEKIT_SYM_CFI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind_rule.h"

struct processor;
struct work;

/* True if the rule needs the base register, which then has to be known of frames below. */
bool cfi__needs_base(const struct processor *processor, const struct unwind_rule *rule);

struct cfi_bytes {
	const unsigned char *bytes;
	size_t size;
};

struct cfi_program {
	const struct processor *processor;
	struct cfi_bytes initial, instructions; /* of the CIE, and of the FDE */
	uint64_t start, end;			/* addresses */
	uint64_t code_alignment;
	int64_t data_alignment;
	uint64_t return_address; /* the column */
	bool is_signal_frame;
};

/*
 * Called with ascending addresses, from start on; the rule holds up to the next one, or end.
 * Returns 0, or what cfi_program__run() is to return.
 */
typedef int (*cfi_visit)(void *context, uint64_t address, const struct unwind_rule *rule);

/*
 * Instructions take from work. When no work is left, and behind unknown or unsound instructions,
 * the rule is UNWIND_UNSUPPORTED up to the end. Returns 0, or what visit returned.
 */
int cfi_program__run(const struct cfi_program *program, const struct work *work, cfi_visit visit,
		     void *context);

#endif
