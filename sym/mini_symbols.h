/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .gnu_debugdata: an ELF file with the symbols that a stripped program lacks, in the
 * program itself, compressed by xz. Format: "MiniDebugInfo" in the manual of gdb.
 */
#ifndef TRACEKIT_SYM_MINI_SYMBOLS_H
#define TRACEKIT_SYM_MINI_SYMBOLS_H

#include <stdint.h>

struct elf_symbols;

/*
 * A file in memory that holds it: it goes with the descriptor, which is the caller's. What
 * is done is taken from *work. Returns the descriptor, -ENOENT if there is none, -EBADMSG
 * if it is no xz stream that ends, or holds no ELF file of the same machine and class, -EFBIG if it
 * asks for more memory or work than any program's, or another negative errno.
 */
int mini_symbols__open(const struct elf_symbols *elf, uint64_t *work);

#endif
