/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an ELF file needs before its code can run. Format: System V ABI, chapter 5. */
#ifndef TRACEKIT_SYM_ELF_NEEDED_H
#define TRACEKIT_SYM_ELF_NEEDED_H

#include <stdbool.h>

struct elf_file;

enum elf_need {
	ELF_NEED_LOADER = 'I',	 /* the path of its dynamic loader (PT_INTERP) */
	ELF_NEED_RUN_PATH = 'R', /* folders with its libraries, separated by ':' */
	ELF_NEED_LIBRARY = 'L',	 /* the soname or the path of a library */
};

/*
 * Call visit for each thing that the file needs: run paths come before libraries, all else in the
 * order of the file. text is valid during the call. Ends when visit returns true, and returns true
 * then. No program has more than one dynamic section, or thousands of entries: the rest is not
 * looked at.
 */
bool elf_needed__each(const struct elf_file *elf,
		      bool (*visit)(void *context, enum elf_need what, const char *text),
		      void *context);

/* True if is_meant() holds for the soname of one of the file's libraries and name. */
bool elf_needed__any(const struct elf_file *elf,
		     bool (*is_meant)(const char *soname, const char *name), const char *name);

#endif
