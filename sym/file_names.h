/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a file that processes have mapped says of addresses in it: the names of functions, from
 * its symbols and from what stands in for them.
 */
#ifndef TRACEKIT_SYM_FILE_NAMES_H
#define TRACEKIT_SYM_FILE_NAMES_H

#include <stddef.h>
#include <sys/types.h>

#include "sym/elf_symbols.h"
#include "sym/file_identity.h"

struct sym_settings;
struct watched;

struct sym_file {
	struct file_identity identity;
	struct elf_symbols elf;
	int fd;	      /* owned */
	dev_t device; /* as its mappings show it */
};

/* What finding names needs: all borrowed, and the same for all files. */
struct file_names {
	const struct sym_settings *settings;
	const struct watched *watched;
	struct arena *names;
	unsigned int demangle_patience; /* of sym/demangle.h */
};

/* Takes over fd, of a file on device. Returns 0, or a negative errno with fd closed. */
int sym_file__open(struct sym_file *file, int fd, dev_t device);
void sym_file__close(struct sym_file *file);

/*
 * Find the functions that lookups, sorted by address, lie in. pid: a process that has mapped
 * the file. Returns 0 or -ENOMEM; that something was too large to be read to its end is noted
 * in the progress of watched.
 */
int file_names__find(struct file_names *names, const struct sym_file *file, pid_t pid,
		     struct elf_lookup *lookups, size_t nr);

#endif
