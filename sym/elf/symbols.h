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

#include "sym/util/arena.h"

struct stat;
struct work;

/* Longer names are cut. */
#define ELF_SYMBOLS_NAME_MAX 4095

/* A loadable segment: where a part of the file lies in its own address space. */
struct elf_segment {
	uint64_t offset, size; /* in the file */
	uint64_t address;
	uint64_t memory; /* size there */
	uint32_t flags;	 /* PF_X and the like */
};

/* .symtab and .dynsym: each can have what the other has not. */
#define ELF_SYMBOLS_TABLES 2

struct elf_symbols_table {
	uint64_t offset, entries;
	uint64_t names_offset, names_size;
	uint64_t versions_offset; /* of a 16-bit number for each entry; 0: there is none */
	size_t section;		  /* its number */
};

/* The needed fields of a section header, as they stand in the file. */
struct elf_section {
	uint64_t address, offset, size, entry_size;
	uint64_t flags;
	uint32_t type, link, name;
};

/* A function symbol, whichever class its file has. */
struct elf_symbol {
	uint64_t start, size;
	uint32_t name; /* offset among the names of its table */
	uint16_t section;
	/* A global one above a weak, a version that only old programs use, a local; 0: no symbol */
	uint8_t rank;
	uint8_t table;
	bool indirect; /* an IFUNC: start is its resolver */
};

struct elf_symbols {
	int fd; /* not owned */
	bool is_64bit;
	uint16_t machine; /* EM_X86_64 and the like */
	uint64_t entry;	  /* address where the program begins; 0: there is none */
	struct elf_segment *segments;
	size_t nr_segments;
	struct elf_segment eh_frame_header; /* PT_GNU_EH_FRAME: .eh_frame_hdr; size 0: none */
	struct elf_section *sections;	    /* by number */
	size_t nr_sections;
	size_t section_names; /* number of the section that holds them */
	struct elf_symbols_table tables[ELF_SYMBOLS_TABLES];
	size_t nr_tables;
};

/*
 * Read the headers of the file at fd, which must stay open. Returns 0, -ENOEXEC
 * if it is no ELF file that this machine could run, or another negative errno.
 */
int elf_symbols__open(struct elf_symbols *elf, int fd);
void elf_symbols__close(struct elf_symbols *elf);

/*
 * As fstat(2) of the file, also in a sandbox (sym/child/sandbox.h). Returns 0 or a negative errno.
 */
int elf_symbols__stat(const struct elf_symbols *elf, struct stat *st);

/* Up to size bytes at offset of the file; returns how many it has there (still). */
size_t elf_symbols__read(const struct elf_symbols *elf, void *buffer, size_t size, uint64_t offset);

/* From an offset in the file to its address; false if no segment holds it. */
bool elf_symbols__address(const struct elf_symbols *elf, uint64_t offset, uint64_t *address);

/* The segment with all of flags that holds address, and has bytes in the file for it; or NULL. */
const struct elf_segment *elf_symbols__segment(const struct elf_symbols *elf, uint64_t address,
					       uint32_t flags);

/* From an address to its offset in the file; false if no segment with all of flags holds it. */
bool elf_symbols__offset(const struct elf_symbols *elf, uint64_t address, uint32_t flags,
			 uint64_t *offset);

/* Up to size - 1 bytes of a section's name into name, with a NUL; "" if it has none. */
void elf_symbols__section_name(const struct elf_symbols *elf, const struct elf_section *section,
			       char *name, size_t size);

/*
 * The first section of that name (of 30 bytes at most) among those that a program has in
 * memory, or among the others, of which tables and notes are left out; or NULL.
 */
const struct elf_section *elf_symbols__find_section(const struct elf_symbols *elf, const char *name,
						    bool in_memory);

/*
 * Call visit for the functions that are defined in the tables and have a name, in
 * their order, until it returns other than 0, which is returned, or until no
 * work is left. Whatever can be read of a table is used: a file may be cut short at
 * any time.
 */
typedef int (*elf_symbols_visit)(void *context, const struct elf_symbol *symbol);
int elf_symbols__each_function(const struct elf_symbols *elf, const struct work *work,
			       elf_symbols_visit visit, void *context);

/* True if a is the better of two names of one rank for one function: see elf_symbols__find(). */
bool elf_symbols__is_better_name(const char *a, const char *b);

struct elf_lookup {
	uint64_t address; /* first: the key. Wanted; in the file's own address space */
	const char *name; /* found, or NULL; in the arena */
	uint64_t start;	  /* of the function with that name */
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
int elf_symbols__find(const struct elf_symbols *elf, struct elf_lookup *lookups, size_t nr,
		      struct arena *names, uint64_t *work);

#endif
