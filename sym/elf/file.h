/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file, which may be anyone's: its segments and sections, and where bytes and addresses lie.
 * Format: System V ABI, chapters 4 and 5.
 */
#ifndef TRACEKIT_SYM_ELF_FILE_H
#define TRACEKIT_SYM_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stat;

/* A loadable segment: where a part of the file lies in its own address space. */
struct elf_segment {
	uint64_t offset, size; /* in the file */
	uint64_t address;
	uint64_t memory; /* size there */
	uint32_t flags;	 /* PF_X and the like */
};

/* The needed fields of a section header, as they stand in the file. */
struct elf_section {
	uint64_t address, offset, size, entry_size;
	uint64_t flags;
	uint32_t type, link, name;
};

struct elf_file {
	int fd; /* not owned */
	bool is_64bit;
	uint16_t machine; /* EM_X86_64 and the like */
	uint64_t entry;	  /* address where the program begins; 0: there is none */
	struct elf_segment *segments;
	size_t nr_segments;
	struct elf_segment eh_frame_header; /* PT_GNU_EH_FRAME: .eh_frame_hdr; size 0: none */
	struct elf_section *sections;	    /* by number */
	size_t nr_sections;
	char *names;	   /* of sections, a NUL behind each; NULL: there are none */
	size_t names_size; /* without the last NUL */
};

/*
 * Read the headers of the file at fd, which must stay open. Returns 0, -ENOEXEC
 * if it is no ELF file that this machine could run, or another negative errno.
 */
int elf_file__open(struct elf_file *elf, int fd);
void elf_file__close(struct elf_file *elf);

/*
 * As fstat(2) of the file, also in a sandbox (sym/child/sandbox.h). Returns 0 or a negative errno.
 */
int elf_file__stat(const struct elf_file *elf, struct stat *st);

/* Up to size bytes at offset of the file; returns how many it has there (still). */
size_t elf_file__read(const struct elf_file *elf, void *buffer, size_t size, uint64_t offset);

/* From an offset in the file to its address; false if no segment holds it. */
bool elf_file__address(const struct elf_file *elf, uint64_t offset, uint64_t *address);

/* The segment with all of flags that holds address, and has bytes in the file for it; or NULL. */
const struct elf_segment *elf_file__segment(const struct elf_file *elf, uint64_t address,
					    uint32_t flags);

/* From an address to its offset in the file; false if no segment with all of flags holds it. */
bool elf_file__offset(const struct elf_file *elf, uint64_t address, uint32_t flags,
		      uint64_t *offset);

/*
 * Up to size - 1 bytes of the string at offset of that section of strings, with a NUL; "" if none
 * is there. Returns its length.
 */
size_t elf_file__string(const struct elf_file *elf, const struct elf_section *table,
			uint64_t offset, char *string, size_t size);

/* A section's name, which the file keeps; "" if it has none. */
const char *elf_file__section_name(const struct elf_file *elf, const struct elf_section *section);

/*
 * The first section of that name among those that a program has in memory, or among the others, of
 * which tables and notes are left out; or NULL.
 */
const struct elf_section *elf_file__find_section(const struct elf_file *elf, const char *name,
						 bool in_memory);

#endif
