/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that has no call-frame information, but whose frames are known all the same. */
#ifndef TRACEKIT_SYM_CFI_KNOWN_CODE_H
#define TRACEKIT_SYM_CFI_KNOWN_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind_rule.h"

struct elf_file;

/*
 * Where a program begins there is no caller. Some programs write that by hand without information
 * about it, as the dynamic linker of glibc 2.36, which would need it for 80 bytes.
 */
#define UNWIND_ENTRY_SIZE 128

/* A rule that holds where nobody says another one. */
struct known_code {
	uint64_t start, end; /* addresses */
	struct unwind_rule rule;
};

#define KNOWN_CODES_MAX 16

/*
 * Where the program begins; _init() and _fini(), which the C library has in pieces (crti.o,
 * crtn.o), if their code is the usual one; and the stubs of linkage tables, where linkers for the
 * processor write nothing about them. Returns how many there are, by ascending addresses.
 */
size_t known_code__find(struct known_code codes[KNOWN_CODES_MAX], const struct elf_file *elf);

#endif
