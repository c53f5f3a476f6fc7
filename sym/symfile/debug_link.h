/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that an ELF file names as keepers of its symbols and debug data.
 * Formats: "Debugging Information in Separate Files" in the manual of gdb, and that of
 * dwz(1) for the alternate file. All of it is only a claim.
 */
#ifndef TRACEKIT_SYM_SYMFILE_DEBUG_LINK_H
#define TRACEKIT_SYM_SYMFILE_DEBUG_LINK_H

#include <limits.h>
#include <stdint.h>

#include "sym/elf/notes.h"

struct elf_file;

/* A build ID. */
struct debug_id {
	unsigned char bytes[ELF_BUILD_ID_MAX];
	int size; /* 0: none */
};

/* .gnu_debuglink: a file's name, which is never a path, and its CRC-32. */
struct debug_link {
	char name[NAME_MAX + 1];
	uint32_t crc;
};

/* .gnu_debugaltlink: the path and the build ID of what several debug files share. */
struct debug_alternate {
	char path[PATH_MAX];
	struct debug_id id;
};

/* Each returns 0, or -ENOENT, and leaves its output alone, if the file has no such one. */
int debug_link__read(struct debug_link *link, const struct elf_file *elf);
int debug_alternate__read(struct debug_alternate *alternate, const struct elf_file *elf);

#endif
