/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The DWARF expressions of call-frame information that are some known shape (DWARF 5, 2.5). */
#ifndef TRACEKIT_SYM_CFI_EXPRESSION_H
#define TRACEKIT_SYM_CFI_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "sym/cfi/program.h"

/* Where the caller's register is. */
struct cfi_place {
	enum unwind_saved kind;
	bool is_unknown; /* UNWIND_LOST because nothing here can tell, not because it is lost */
	uint64_t reg;
	int64_t offset;
};

/* The result of an expression. */
struct cfi_value {
	enum unwind_cfa
		kind; /* UNWIND_REGISTER, UNWIND_MEMORY, UNWIND_PLT, or UNWIND_UNSUPPORTED */
	uint64_t reg;
	int64_t offset, addend;
};

struct cfi_value cfi_expression__read(const struct processor *processor, struct cfi_bytes bytes);

#endif
