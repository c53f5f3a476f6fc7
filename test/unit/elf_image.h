/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small ELF files, made in memory: headers, symbol tables, names and notes, but no
 * code. The two segments and .text are said to lie behind the end of the file.
 */
#ifndef TRACEKIT_TEST_ELF_IMAGE_H
#define TRACEKIT_TEST_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_TEXT_OFFSET  0x1000
#define IMAGE_TEXT_ADDRESS 0x401000
#define IMAGE_TEXT_SIZE	   0x1000
#define IMAGE_DATA_OFFSET  0x3000
#define IMAGE_DATA_ADDRESS 0x404000
#define IMAGE_DATA_SIZE	   0x1000 /* in memory there is as much again, as .bss */
#define IMAGE_TEXT_SECTION 1	  /* the first; the tables and their names follow */

struct image_symbol {
	const char *name;
	uint64_t start, size;
	unsigned char info; /* ELF64_ST_INFO() */
	uint16_t section;   /* 0: .text; not counting image_spec.nr_before */
};

#define GLOBAL_FUNCTION ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define WEAK_FUNCTION	ELF64_ST_INFO(STB_WEAK, STT_FUNC)
#define LOCAL_FUNCTION	ELF64_ST_INFO(STB_LOCAL, STT_FUNC)

struct image_table {
	uint32_t type; /* SHT_SYMTAB or SHT_DYNSYM */
	const struct image_symbol *symbols;
	size_t nr;
};

#define IMAGE_TABLES 2

struct image_spec {
	bool is_32bit;
	struct image_table tables[IMAGE_TABLES]; /* in the file's order; type 0: none */
	const void *notes;			 /* the bytes of a section of notes; NULL: none */
	size_t notes_size;
	uint64_t stapsdt_base; /* the address of .stapsdt.base; 0: none */
	/* Empty sections before .text, which add to the numbers of all others */
	size_t nr_before;
};

/* Table i is section 2 + 2 * i, its names are the section behind it. */
#define IMAGE_TABLE_SECTION(i) (2 + 2 * (i))

struct elf_image {
	unsigned char *bytes; /* malloc()ed */
	size_t size;
};

/*
 * Append a note to the size bytes of notes, which has room. Of USDT notes, the text is
 * "PROVIDER\0NAME\0ARGUMENTS\0". Both return the new size.
 */
size_t image_note__append(void *notes, size_t size, uint32_t type, const char *owner,
			  const void *data, size_t data_size);
size_t image_note__append_usdt(void *notes, size_t size, bool is_32bit, const uint64_t addresses[3],
			       const char *text, size_t text_size);

/* Aborts without memory: there is nothing else for a test to do. */
struct elf_image elf_image__make(const struct image_spec *spec);

/* The headers of a 64-bit image, to be spoilt. */
Elf64_Ehdr *elf_image__ehdr(const struct elf_image *image);
Elf64_Phdr *elf_image__phdr(const struct elf_image *image);
Elf64_Shdr *elf_image__shdr(const struct elf_image *image, size_t section);

/* Drop all that the loader does not need, as programs that make files smaller do. */
void elf_image__drop_sections(const struct elf_image *image);

void elf_image__free(struct elf_image *image);

#endif
