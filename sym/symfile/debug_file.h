/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The separate files that the symbols and debug data of programs are kept in.
 *
 * Where they are looked for, one place after the other, until one has what is wanted:
 *
 *   a folder of the user's (--symfs), which is laid out as a root
 *   the root of the host      /usr/lib/debug/.build-id/xx/yyyy.debug
 *   the root of the process   the same, if it is not ours
 *   a server (--debuginfod)
 *
 * and, in the root in which the program itself has its path, by the name in its
 * .gnu_debuglink: beside it, in .debug/ there, and in the same folder below
 * /usr/lib/debug. Below the user's folder the program's own path comes first.
 *
 * A file that is taken is regular, an ELF file of the same machine and class, and shown to
 * belong to the program: by its build ID, or by the CRC of the link where one of the two
 * has no build ID. Below the user's folder files without build IDs belong to each other if
 * their segments lie at the same addresses. The host's files are only taken if they
 * belong to root, to our user, or to the owner of the program. A file in the root of a
 * process may be anyone's; whoever finds it there uses it for that process only.
 *
 * A build ID is no secret and no proof: a process that shows the ID of another program gets
 * the names of that program, for its own frames, but nothing else.
 */
#ifndef TRACEKIT_SYM_SYMFILE_DEBUG_FILE_H
#define TRACEKIT_SYM_SYMFILE_DEBUG_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sym/process/rooted.h"
#include "sym/symfile/debuginfod.h"

struct elf_file;
struct sym_settings;
struct supervisor;

/* The wanted content of a file. */
enum debug_content {
	DEBUG_SYMBOLS, /* .symtab */
	DEBUG_DWARF,   /* .debug_info */
};

/* Places, to be joined by |. */
enum debug_place {
	DEBUG_SYMFS = 1,
	DEBUG_HOST = 2,	  /* and beside the program, if the root of the process is ours */
	DEBUG_TARGET = 4, /* the root of the process, if it is not ours */
	DEBUG_SERVER = 8,
};

/* Shared by searches. */
struct debug_files {
	const struct supervisor *supervisor; /* or NULL: nobody watches */
	int symfs;			     /* or -1; owned */
	bool asks_server;
	struct debuginfod server;
};

/*
 * Returns 0, or a negative errno if the folder of --symfs cannot be opened: the rest is then of use
 * without it.
 */
int debug_files__open(struct debug_files *files, const struct sym_settings *settings,
		      const struct supervisor *supervisor);
void debug_files__close(struct debug_files *files);

struct debug_search {
	const struct elf_file *elf; /* the program; its descriptor is open */
	/* As the process has it mapped, " (deleted)" and all; NULL: asked of the descriptor. */
	const char *path;
	pid_t pid; /* a process that has mapped it, to be blamed if its files do not answer; or 0 */
	int root;  /* of that process: see rooted__root_of() */
	unsigned int places; /* enum debug_place */
	enum debug_content wanted;
	uint64_t *work; /* it pays for what is read for a CRC, see sym/elf/work.h */
};

struct debug_file {
	int fd; /* owned by the caller */
	enum debug_place place;
	dev_t device; /* to be told to whoever watches when it is read */
};

/* True if the file itself has it. Costs no system call for symbols, some for DWARF. */
bool debug_content__is_in(const struct elf_file *elf, enum debug_content content);

/*
 * Find the file that is searched for. Returns 0, -ENOENT if there is none (places that
 * did not answer earlier are left out), -ETIME if there was no time left to ask a server, or
 * another negative errno; *found is filled only if 0 is returned.
 */
int debug_files__find(struct debug_files *files, const struct debug_search *search,
		      struct debug_file *found);

/*
 * The alternate file that search->elf, a file with debug data, names in .gnu_debugaltlink:
 * by its path, in /usr/lib/debug/.dwz, and by its build ID, which is its proof. place: where
 * search->elf was found; 0 if it is the program itself. path and wanted of search are not
 * looked at. Returns the same, or 1 if it names none.
 */
int debug_files__find_alternate(struct debug_files *files, const struct debug_search *search,
				enum debug_place place, struct debug_file *found);

/*
 * The file at path that holds a part of the debug data of search->elf (split DWARF), which names
 * it. Whoever reads it must check that it belongs there. All else as above.
 */
int debug_files__find_split(struct debug_files *files, const struct debug_search *search,
			    enum debug_place place, const char *path, struct debug_file *found);

/*
 * The package (.dwp) with such parts of all of search->elf, whose program has the path
 * search->path: it has the name of one of both, is beside it, or in the folder of the program below
 * /usr/lib/debug. wanted of search is not looked at. All else as above.
 */
int debug_files__find_package(struct debug_files *files, const struct debug_search *search,
			      enum debug_place place, struct debug_file *found);

#endif
