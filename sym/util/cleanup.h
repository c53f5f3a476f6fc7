/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resources that release themselves at the end of the scope that declares them. */
#ifndef TRACEKIT_SYM_UTIL_CLEANUP_H
#define TRACEKIT_SYM_UTIL_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Declare with an initial value: NULL, -1, or {}. */
#define CLEANUP(function) __attribute__((cleanup(function)))
#define CLEANUP_FREE	  CLEANUP(cleanup__free)
#define CLEANUP_CLOSE	  CLEANUP(cleanup__close)
#define CLEANUP_FCLOSE	  CLEANUP(cleanup__fclose)
#define CLEANUP_CLOSEDIR  CLEANUP(cleanup__closedir)

/* Hand a resource over: the variable is left empty and releases nothing. */
#define TAKE_POINTER(variable)                                                                     \
	({                                                                                         \
		typeof(variable) taken_ = (variable);                                              \
		(variable) = NULL;                                                                 \
		taken_;                                                                            \
	})
#define TAKE_FD(variable)                                                                          \
	({                                                                                         \
		int taken_ = (variable);                                                           \
		(variable) = -1;                                                                   \
		taken_;                                                                            \
	})

static inline void cleanup__free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup__close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup__closedir(DIR *const *directory)
{
	if (*directory)
		closedir(*directory);
}

static inline void cleanup__fclose(FILE *const *file)
{
	if (*file)
		fclose(*file);
}

#endif
