/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of its functions that every Go program carries for its own tracebacks, stripped
 * or not. It is read piece by piece, not loaded: the largest programs have 190 MB of it.
 * Format: "Go 1.2 Runtime Symbol Information" (golang.org/s/go12symtab), and for Go 1.16,
 * 1.18, 1.20 and 1.26 its source, src/runtime/symtab.go, pcHeader, _func and moduledata.
 */
#ifndef TRACEKIT_SYM_ELF_GO_TABLE_H
#define TRACEKIT_SYM_ELF_GO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/elf/work.h"

struct elf_section;
struct elf_file;

/* A unit of work is about a symbol; a small read takes as long as so many of them. */
#define GO_READ_COST 32

struct go_table {
	const struct elf_file *elf;
	struct work work;
	/* Sections: the table itself, or where it is among other things; moduledata; code. */
	const struct elf_section *whole, *relro, *module, *code;
	const struct elf_section *mark; /* which Go puts into what it makes */
	uint64_t address, offset, size; /* of the table; offset: in the file */
	size_t word;			/* 4 or 8 */
	uint8_t quantum;		/* bytes of code that its distances count */
	uint32_t magic;
	size_t entry;	    /* bytes of each half of a pair */
	uint64_t text;	    /* to be added to the starts of functions */
	uint64_t functions; /* offsets in the table */
	uint64_t names;
	uint64_t deltas; /* where the offsets of the stack pointer's changes count from */
	uint64_t nr;
};

/* Functions that are read together: the last steps of a search are made in memory. */
#define GO_BLOCK_FUNCTIONS 256

/* The pairs from first on, as far as they have been read; nr of them, and the end of the last. */
struct go_block {
	uint64_t first, nr;
	unsigned char bytes[2 * sizeof(uint64_t) * (GO_BLOCK_FUNCTIONS + 1)];
};

/* Flags of the runtime for functions that are unlike others. */
enum go_flag {
	GO_TOP_FRAME = 1,
	GO_WRITES_STACK_POINTER = 2,
};

struct go_description {
	uint32_t name;	 /* for go_table__read_name() */
	uint32_t deltas; /* of the stack pointer; 0: it has none */
	uint8_t flags;	 /* enum go_flag and others; before Go 1.17 there are none */
	bool is_plain;	 /* it is compiled, and the runtime does not know it by name; since 1.20 */
};

/* False if the file has none, or no work is left. Nothing is to be closed. */
bool go_table__open(struct go_table *table, const struct elf_file *elf, struct work work);

/* size bytes at that offset of the table; false if it has not so many, or no work is left. */
bool go_table__read(struct go_table *table, void *buffer, size_t size, uint64_t offset);

/* Read the pairs from number first on, nr at most; false if they cannot be read. */
bool go_table__read_block(struct go_table *table, struct go_block *block, uint64_t first,
			  uint64_t nr);

/* Number i of a block's functions: where it begins, or with i = nr where the last one ends. */
uint64_t go_table__start(const struct go_table *table, const struct go_block *block, uint64_t i);

/* Describe number i of them; false if it cannot be read. Bytes behind the table are 0. */
bool go_table__describe(struct go_table *table, const struct go_block *block, uint64_t i,
			struct go_description *description);

/* Up to size bytes of a name, without a NUL; returns how many there are, 0 if there is none. */
size_t go_table__read_name(struct go_table *table, uint32_t name, char *buffer, size_t size);

#endif
