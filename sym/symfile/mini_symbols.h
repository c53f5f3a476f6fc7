/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .gnu_debugdata: an ELF file with the symbols that a stripped program lacks, in the
 * program itself, compressed by xz. Format: "MiniDebugInfo" in the manual of gdb.
 */
#ifndef TRACEKIT_SYM_SYMFILE_MINI_SYMBOLS_H
#define TRACEKIT_SYM_SYMFILE_MINI_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;

/*
 * A file in memory that holds it: it goes with the descriptor, which is the caller's. It is
 * inflated by a child that can do no harm (sym/child/sandbox.h), in two seconds at most. What
 * is done is taken from *work. Returns the descriptor, -ENOENT if there is none, -EBADMSG
 * if it is no xz stream that ends, or holds no ELF file of the same machine and class, -EFBIG if it
 * asks for more memory, time or work than any program's, -EPIPE if the child has died, -EPERM if
 * there can be no sandbox, or another negative errno.
 */
int mini_symbols__open(const struct elf_file *elf, uint64_t *work);

/*
 * The child's work: call take for piece after piece of what the xz stream in size bytes holds,
 * until it returns other than 0, which is returned. Returns 0 at the end of the stream, -EBADMSG or
 * -EFBIG as above.
 */
typedef int (*mini_symbols_take)(void *context, const uint8_t *bytes, size_t size);
int mini_symbols__inflate(const uint8_t *bytes, size_t size, mini_symbols_take take, void *context);

#endif
