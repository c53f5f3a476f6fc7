/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line table of a unit: which line of which file instructions come from. Its program
 * is run past the sorted addresses that lines are wanted for, and no table is made: libdw
 * allocates and sorts one entry for each row, which takes twenty times as long.
 * Format: DWARF 5, 6.2; versions 2 to 5.
 */
#ifndef TRACEKIT_SYM_DWARF_LINES_H
#define TRACEKIT_SYM_DWARF_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/elf/byte_reader.h"
#include "sym/util/arena.h"

struct debug_image;
struct work;

struct debug_line_file {
	const char *name;
	uint64_t folder;
	const char *path; /* with its folders, once it has been asked for; in the arena */
};

struct debug_lines {
	const struct debug_image *image;
	const char *compilation_folder; /* or NULL */
	uint8_t version, address_size, offset_size;
	uint8_t min_instruction_length, line_range, opcode_base;
	int8_t line_base;
	const unsigned char *opcode_lengths;
	const char **folders;
	size_t nr_folders, folders_capacity;
	struct debug_line_file *files; /* as the table numbers them */
	size_t nr_files, files_capacity;
	struct byte_reader program;
	struct arena paths;
};

struct debug_row {
	uint64_t address; /* first: the key */
	uint64_t file;	  /* for debug_lines__path() */
	uint32_t line;	  /* 0: unknown */
	bool found;
};

/*
 * Read the header of the table at offset of .debug_line. compilation_folder is borrowed.
 * Returns 0, -EBADMSG, -EFBIG if there is no work left, or -ENOMEM.
 */
int debug_lines__open(struct debug_lines *lines, const struct debug_image *image, uint64_t offset,
		      uint8_t address_size, const char *compilation_folder,
		      const struct work *work);
void debug_lines__release(struct debug_lines *lines);

/* Fill in what is known of the rows, sorted by address. What is found is right, however it ends. */
void debug_lines__find(const struct debug_lines *lines, struct debug_row *rows, size_t nr,
		       const struct work *work);

/* The path of a file, valid until the release; NULL if there is no such one, or no memory. */
const char *debug_lines__path(struct debug_lines *lines, uint64_t file);

#endif
