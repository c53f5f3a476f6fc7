/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of the functions of a Go program, which has no .eh_frame for them: from the table of
 * sym/elf/go_table.h, which tells where each function moves the stack pointer, and how far.
 */
#ifndef TRACEKIT_SYM_CFI_GO_UNWIND_H
#define TRACEKIT_SYM_CFI_GO_UNWIND_H

#include <stdbool.h>

#include "sym/cfi/program.h"
#include "sym/elf/work.h"

struct elf_file;
struct go_table;

/* False if the file has no such table, or its processor is not known, or no work is left. */
bool go_unwind__open(struct go_table *table, const struct elf_file *elf, struct work work);

/*
 * Visit all rows in the order of their addresses; the last row is UNWIND_NONE, as are the rows of
 * code that is not Go. A function that begins before the previous one is left out. Returns 0,
 * -EFBIG if there is no more work left, or what visit returned.
 */
int go_unwind__each_row(struct go_table *table, cfi_visit visit, void *context);

#endif
