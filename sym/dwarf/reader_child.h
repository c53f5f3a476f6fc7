/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other end of sym/dwarf/reader.h: it answers on a socket until that is closed. */
#ifndef TRACEKIT_SYM_DWARF_READER_CHILD_H
#define TRACEKIT_SYM_DWARF_READER_CHILD_H

#include <stdint.h>
#include <sys/types.h>

struct child_role;
struct debug_plan;
struct elf_file;

struct debug_reader_job {
	pid_t parent;
	int socket;
	const struct debug_plan *plan;
	const struct debug_plan *alternate; /* or NULL */
	const struct elf_file *package;	    /* or NULL */
	uint64_t memory;		    /* bytes that it may map */
	unsigned int cpu_seconds;	    /* in all questions: each has its own limit */
};

extern const struct child_role debug_reader_role;

_Noreturn void debug_reader_child__run(const struct debug_reader_job *job);

#endif
