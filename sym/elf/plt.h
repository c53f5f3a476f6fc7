/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of entries of procedure linkage tables, which have no symbols.
 *
 * An entry jumps through a slot that a relocation fills: the symbol of that
 * relocation is what is called. Nothing is assumed about the order of entries.
 * Formats: System V ABI, AMD64 supplement, chapter 5; the forms for CET in its
 * section on IBT.
 */
#ifndef TRACEKIT_SYM_ELF_PLT_H
#define TRACEKIT_SYM_ELF_PLT_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct elf_lookup;
struct elf_file;

/*
 * Name those of lookups, sorted by address, that have no name yet and lie in such
 * a table: "NAME@plt", with start at the entry. Knows x86-64 and arm64; elsewhere
 * nothing is found. Bounded as elf_symbols__find() is, with which it shares *work, and returns
 * the same.
 */
int elf_plt__find(const struct elf_file *elf, struct elf_lookup *lookups, size_t nr,
		  struct arena *names, uint64_t *work);

#endif
