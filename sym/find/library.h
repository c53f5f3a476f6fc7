/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which file a library is by its soname, in our own root: as ld.so(8) finds it. */
#ifndef TRACEKIT_SYM_FIND_LIBRARY_H
#define TRACEKIT_SYM_FIND_LIBRARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Where the loaders of glibc and musl look without a cache. */
#define LIBRARY_FOLDERS 7
extern const char *const library_folders[LIBRARY_FOLDERS];

/* True for an ELF file that begins as one of this machine and word size does. */
bool library__is_for_this_machine(int fd);

/*
 * All of the cache of the dynamic loader (sym/find/ld_cache.h) at fd, allocated; NULL if it cannot
 * be read.
 */
char *library__read_cache(int fd, size_t *size);

/* Who needs the library, and where it says that its libraries are. */
struct library_user {
	const char *path;     /* of the file */
	const char *run_path; /* its DT_RUNPATH or DT_RPATH, or "" */
};

/*
 * Open a library: soname with a '/' is a path. Else it is looked for in the folders of
 * LD_LIBRARY_PATH, which a command has from us; of run_path, where $ORIGIN is the folder of the
 * user; in the cache of the loader; and in the usual folders. Variants for some CPUs only
 * (glibc-hwcaps) are not found. Returns a descriptor, -ENOENT, or another negative errno.
 */
int library__open(const struct library_user *user, const char *soname);

#endif
