/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the functions of a file begin that have no name, by its call-frame information: a stripped
 * file has that, too. It is read where it lies: the search table of .eh_frame_hdr leads to the
 * entry of an address. Files without such a table (programs that are linked statically) are read
 * from end to end, and so is .debug_frame. Formats: DWARF 5, 6.4.1; Linux Standard Base
 * Core 5.0, 10.6.
 */
#ifndef TRACEKIT_SYM_CFI_FUNCTION_STARTS_H
#define TRACEKIT_SYM_CFI_FUNCTION_STARTS_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct elf_lookup;

/*
 * Fill in the starts of those lookups, sorted by address, that have no name: 0 where an entry does
 * not say that a function covers the address and begins in the same executable segment. The parts
 * of a function that compilers have split have entries, and starts, of their own.
 *
 * The work is bounded, and taken from *work. Returns 0, -EFBIG if the bound was reached (what was
 * found by then is there all the same), or -ENOMEM.
 */
int function_starts__find(const struct elf_file *elf, struct elf_lookup *lookups, size_t nr,
			  uint64_t *work);

#endif
