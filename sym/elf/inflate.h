/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections that are compressed, piece by piece into memory of the size that they state. */
#ifndef TRACEKIT_SYM_ELF_INFLATE_H
#define TRACEKIT_SYM_ELF_INFLATE_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct work;

enum compression { COMPRESSION_NONE, COMPRESSION_ZLIB, COMPRESSION_ZSTD };

/*
 * Read the size bytes at offset of the file and inflate them, to as many bytes as are wanted.
 * A unit of work is taken for each piece that is read.
 * Returns 0, -EBADMSG if they are not compressed in that way or give too few, or -ENOMEM.
 */
int inflate_section(const struct elf_file *elf, enum compression compression, uint64_t offset,
		    uint64_t size, void *bytes, size_t inflated, const struct work *work);

#endif
