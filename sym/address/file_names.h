/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a file that processes have mapped says of addresses in it: the names of functions, from
 * its symbols and from what stands in for them, in the file itself and in the one that its
 * symbols are kept in.
 */
#ifndef TRACEKIT_SYM_ADDRESS_FILE_NAMES_H
#define TRACEKIT_SYM_ADDRESS_FILE_NAMES_H

#include <stddef.h>
#include <sys/types.h>

#include "sym/elf/symbols.h"
#include "sym/process/file_identity.h"
#include "sym/symfile/debug_file.h"

struct sym_settings;
struct watched;

struct sym_file {
	struct file_identity identity;
	struct elf_symbols elf;
	int fd;		  /* owned */
	dev_t device;	  /* as its mappings show it */
	pid_t pid;	  /* of a process that has mapped it */
	const char *path; /* that it has there */
	/* The root of that process: what is found there is found for all in it. Borrowed. */
	struct root_identity root_identity;
	int root;
};

/* What finding names needs: all borrowed, and the same for all files. */
struct file_names {
	const struct sym_settings *settings;
	const struct watched *watched;
	struct arena *names;
	struct debug_files debug_files;
	unsigned int demangle_patience; /* of sym/elf/demangle.h */
};

/* Reads the headers of the file, of which all else is filled in. Returns 0 or a negative errno. */
int sym_file__open(struct sym_file *file);
void sym_file__close(struct sym_file *file);

/* For a file that holds what is wanted of this one, in any place; with the work of watched. */
struct debug_search file_names__search(const struct file_names *names, const struct sym_file *file,
				       enum debug_content wanted);

/*
 * Find the functions that lookups, sorted by address, lie in. Returns 0 or -ENOMEM; that
 * something could not be read, or not to its end, is noted in the progress of watched.
 */
int file_names__find(struct file_names *names, const struct sym_file *file,
		     struct elf_lookup *lookups, size_t nr);

/*
 * The form of a symbol as it is wanted, in names->names, or the symbol itself; NULL without memory.
 */
const char *file_names__demangle(struct file_names *names, const char *symbol);

#endif
