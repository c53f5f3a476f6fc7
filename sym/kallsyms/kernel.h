/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel addresses to names, from text that the kernel prints. */
#ifndef TRACEKIT_SYM_KALLSYMS_KERNEL_H
#define TRACEKIT_SYM_KALLSYMS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sym/util/arena.h"

/* Where the parts of a printed symbol lie in its text. */
struct kernel_symbol {
	const char *name;
	size_t name_length;
	uint64_t offset;
	const char *module; /* NULL: the kernel itself */
	size_t module_length;
};

/*
 * Parse what "%pS" prints: "vfs_read+0x9e/0x2c0" or "ext4_sync_fs+0x31/0x1b0 [ext4]".
 * False if the kernel knew no name and printed the bare address.
 */
bool kernel_symbol__parse(const char *text, struct kernel_symbol *symbol);

/* A line of /proc/kallsyms. */
struct kallsyms_line {
	uint64_t address;
	char type; /* as nm(1) has it */
	char *name;
	char *module; /* or NULL */
};

/*
 * Parse "ffffffffc0a01000 t ext4_sync_fs\t[ext4]"; the strings of *symbol lie in
 * line. False if it is no such line.
 */
bool kallsyms_line__parse(char *line, struct kallsyms_line *symbol);
bool kallsyms_line__is_function(const struct kallsyms_line *symbol);

struct kallsyms_lookup {
	uint64_t address; /* first: the key. Wanted */
	const char *name; /* found, or NULL; in the arena */
	const char *module;
	uint64_t start;
};

/*
 * Find the functions that lookups, sorted by address, lie in, reading a file of
 * the format of /proc/kallsyms once. Returns 0, -EACCES if it shows no addresses,
 * or -ENOMEM.
 */
int kallsyms__find(FILE *file, struct kallsyms_lookup *lookups, size_t nr, struct arena *names);

#endif
