/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The libraries that an ELF file is linked with. Format: System V ABI, chapter 5. */
#ifndef TRACEKIT_SYM_ELF_NEEDED_H
#define TRACEKIT_SYM_ELF_NEEDED_H

#include <stdbool.h>

struct elf_file;

/*
 * True if is_meant() holds for the soname of one of them and name. No program has more than one
 * dynamic section, or thousands of entries: the rest is not looked at.
 */
bool elf_needed__any(const struct elf_file *elf,
		     bool (*is_meant)(const char *soname, const char *name), const char *name);

#endif
