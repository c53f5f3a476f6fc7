/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF files of 64 bits with any sections, for tests. */
#ifndef TRACEKIT_TEST_SECTION_FILE_H
#define TRACEKIT_TEST_SECTION_FILE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/elf/file.h"

struct file_section {
	const char *name; /* up to 31 bytes of it */
	const void *bytes;
	size_t size;
	uint64_t flags;
};

/* Begins with all zero, and an elf.fd of -1. */
struct section_file {
	unsigned char *bytes;
	size_t size;
	Elf64_Shdr *headers; /* in the bytes, to be spoilt; the first section's is number 1 */
	struct elf_file elf;
};

/* Neither returns if it fails: a test could do nothing else. */
void section_file__make(struct section_file *file, const struct file_section *sections, size_t nr);
void section_file__open(struct section_file *file);

void section_file__close(struct section_file *file);

#endif
