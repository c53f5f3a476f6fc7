/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Function names from the symbol table of an ELF file.
 *
 * The tables are not loaded: they are read once from end to end past the sorted
 * addresses that names are wanted for, so memory follows the question and not
 * the file, which may be anyone's. Format: System V ABI, chapters 4 and 5.
 */
#ifndef TRACEKIT_SYM_ELF_SYMBOLS_H
#define TRACEKIT_SYM_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/types.h"
#include "sym/util/arena.h"

struct elf_file;
struct elf_section;
struct work;

/* Longer names are cut. */
#define ELF_SYMBOLS_NAME_MAX 4095

/* A function symbol, whichever class its file has. */
struct elf_symbol {
	uint64_t start, size;
	uint32_t name;	  /* offset among the names of its table */
	uint32_t section; /* that it lies in; UINT32_MAX: none that has a number */
	uint32_t table;	  /* section that it stands in */
	/* A global one above a weak, a version that only old programs use, a local; 0: no symbol */
	uint8_t rank;
	bool indirect; /* an IFUNC: start is its resolver */
};

/* The section that holds the symbol's name. */
const struct elf_section *elf_symbols__names(const struct elf_file *elf,
					     const struct elf_symbol *symbol);

/*
 * Call visit for the functions that are defined in the tables and have a name, in
 * their order, until it returns other than 0, which is returned, or until no
 * work is left. Whatever can be read of a table is used: a file may be cut short at
 * any time.
 */
typedef int (*elf_symbols_visit)(void *context, const struct elf_symbol *symbol);
int elf_symbols__each_function(const struct elf_file *elf, const struct work *work,
			       elf_symbols_visit visit, void *context);

/* True if a is the better of two names of one rank for one function: see elf_symbols__find(). */
bool elf_symbols__is_better_name(const char *a, const char *b);

struct elf_lookup {
	uint64_t address;	/* first: the key. Wanted; in the file's own address space */
	const char *name;	/* found, or NULL; in the arena */
	const char *symbol;	/* for who demangles: the name before, if it is another one */
	uint64_t start;		/* of the function with that name */
	enum sym_origin origin; /* of the name; filled by sym/address/file_names.h */
};

/*
 * Find the functions that lookups, sorted by address, lie in. A symbol names
 * the addresses that its size covers; without a size, those up to the next
 * symbol or the end of its section. The innermost symbol is taken; if several
 * begin at one address, a global one before a weak, before one of a version that
 * no new program is linked with (free is cfree of long ago), before a local; then
 * the one with fewest leading underscores. What no function covers, and a label
 * without a type precedes, has the label's name, as in gdb.
 *
 * The work for one file is bounded, and *work bounds the work for many files
 * together: the work done is taken from it; at 0 nothing more is found.
 * ELF_SYMBOLS_WORK is enough for a thousand ordinary files.
 * Returns 0, -EFBIG if the bound was reached (what was found by then is there all
 * the same), or -ENOMEM.
 */
#define ELF_SYMBOLS_WORK (64 * 1024 * 1024)
int elf_symbols__find(const struct elf_file *elf, struct elf_lookup *lookups, size_t nr,
		      struct arena *names, uint64_t *work);

#endif
