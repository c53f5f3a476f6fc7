/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of functions at addresses in a file that processes have mapped: from its symbols and
 * from what stands in for them, in the file itself and in the file that its symbols are kept in.
 */
#ifndef TRACEKIT_SYM_ADDRESS_FILE_NAMES_H
#define TRACEKIT_SYM_ADDRESS_FILE_NAMES_H

#include <stddef.h>
#include <sys/types.h>

#include "sym/elf/file.h"
#include "sym/elf/symbols.h"
#include "sym/process/file_identity.h"
#include "sym/symfile/debug_file.h"

struct sym_settings;
struct supervisor;

struct sym_file {
	struct file_identity identity;
	struct elf_file elf;
	int fd;		  /* owned */
	dev_t device;	  /* as its mappings show it */
	pid_t pid;	  /* of a process that has mapped it */
	const char *path; /* that it has there */
	/* In hexadecimal, "" without one, in the arena of the names; NULL: not read yet. */
	const char *build_id;
	/* The root of that process: a file found there serves for all processes in it. Borrowed. */
	struct root_identity root_identity;
	int root;
};

/* The needs of a search for names: all borrowed, and the same for all files. */
struct file_names {
	const struct sym_settings *settings;
	const struct supervisor *supervisor;
	struct arena *names;
	struct debug_files debug_files;
	unsigned int demangle_patience; /* of sym/elf/demangle.h */
};

/* Read the headers of the file; all else is filled in. Returns 0 or a negative errno. */
int sym_file__open(struct sym_file *file);
void sym_file__close(struct sym_file *file);

/* Read its build ID if that has not been done. Returns 0 or -ENOMEM. */
int sym_file__read_build_id(struct sym_file *file, struct arena *names);

/* A search in all places for the wanted content of this file; it takes supervisor's work. */
struct debug_search file_names__search(const struct file_names *names, const struct sym_file *file,
				       enum debug_content wanted);

/*
 * Find the functions that lookups, sorted by address, lie in, and demangle their names; with
 * settings->symbols the symbols are told as well. With settings->starts the start of a
 * lookup without a name is that of sym/cfi/function_starts.h. Returns 0 or -ENOMEM; the progress of
 * supervisor says if something could not be read, or not to its end.
 */
int file_names__find(struct file_names *names, const struct sym_file *file,
		     struct elf_lookup *lookups, size_t nr);

/* A name as it is shown, and as it stands in the file if that is wanted and another one; or NULL.
 */
struct file_name {
	const char *name, *symbol;
};

/*
 * Take a symbol of the arena, or one that lives as long, and demangle it if wanted and possible.
 * Returns 0 or -ENOMEM.
 */
int file_names__demangle(struct file_names *names, const char *symbol, struct file_name *name);

#endif
