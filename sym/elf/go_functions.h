/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of Go functions, from the table of sym/elf/go_table.h: they are there when its symbols
 * have been stripped (-ldflags=-s). It is searched: memory and time follow the question.
 */
#ifndef TRACEKIT_SYM_ELF_GO_FUNCTIONS_H
#define TRACEKIT_SYM_ELF_GO_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct elf_lookup;
struct elf_file;

/*
 * Name those of lookups, sorted by address, that have no name yet and lie in a Go
 * function. A function goes as far as the next one begins. Bounded as
 * elf_symbols__find() is, with which it shares *work, and returns the same.
 */
int go_functions__find(const struct elf_file *elf, struct elf_lookup *lookups, size_t nr,
		       struct arena *names, uint64_t *work);

#endif
