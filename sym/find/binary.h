/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which program or library a user means by a name, of the host or of a process. */
#ifndef TRACEKIT_SYM_FIND_BINARY_H
#define TRACEKIT_SYM_FIND_BINARY_H

#include <sys/types.h>

struct error;

struct binary {
	int fd;	    /* of an ELF file, for reading */
	char *path; /* for messages: as it is seen from the host or the process; allocated */
};

/*
 * Open the ELF file that is meant by name. pid: the process that it is looked for in,
 * or 0.
 *
 * With a '/' it is a path: with a pid in the root of that process, from its current
 * directory. Else the first of these is taken:
 *  - what the process has mapped: a library ("c": libc.so.6, libc-2.31.so, musl), then
 *    whatever has just this name;
 *  - what the dynamic loader would find: by soname in its cache, then as a library
 *    there, then in the usual folders; but not if the program below has this name
 *    and is not linked with the library;
 *  - an executable file in PATH, our own, in the root of the process.
 * Files that are not regular are never waited for, and other files than ELF files (a linker
 * script named libc.so) are never taken.
 *
 * Returns 0, or a negative errno with error filled and *binary untouched.
 */
int binary__open(struct binary *binary, const char *name, pid_t pid, struct error *error);

/*
 * The separate file of its symbols, as sym/symfile/debug_file.h finds it on the host or in the root
 * of the process; else what sym/symfile/mini_symbols.h makes of the symbols in the file itself.
 * Returns a descriptor, -ENOENT, or another negative errno.
 */
int binary__open_debug(const struct binary *binary, pid_t pid);

void binary__close(struct binary *binary);

#endif
