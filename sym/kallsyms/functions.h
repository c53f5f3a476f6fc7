/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions of the kernel have a name, and can be traced. */
#ifndef TRACEKIT_SYM_KALLSYMS_FUNCTIONS_H
#define TRACEKIT_SYM_KALLSYMS_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sym/util/arena.h"

struct kernel_function {
	uint64_t address; /* 0: the kernel hides its addresses */
	const char *name; /* in the list's arena */
	bool ambiguous;	  /* without addresses: several functions have this name */
};

/* All zero is an empty list. */
struct kernel_function_list {
	struct kernel_function *functions; /* by name, then address; no address twice */
	size_t nr, capacity;
	struct arena names;
};

/* Asked once for each name that the kernel lists; several functions can have the same. */
typedef bool (*kernel_function_wanted)(void *context, const char *name);

/*
 * The functions that are wanted, those of modules included: from the list of what
 * ftrace can trace or, where that cannot be read (no tracefs, lockdown) or has none of
 * them, all that /proc/kallsyms has, without what is known not to be probed. Returns 0 or a
 * negative errno of /proc/kallsyms, with *list untouched.
 */
int kernel_functions__find(struct kernel_function_list *list, kernel_function_wanted wanted,
			   void *context);
void kernel_function_list__release(struct kernel_function_list *list);

/* Other files in their place, for tests; NULL: not there. */
struct kernel_function_sources {
	int tracefs;	     /* a folder that looks like it, or negative: none; the caller's */
	const char *symbols; /* as /proc/kallsyms */
	/* Opens "0xffffffff81001234-0xffffffff81001250\tname", or returns NULL; only if needed. */
	FILE *(*open_blacklist)(void);
	bool no_addresses; /* ftrace's list of them is not used: see struct processor */
};
int kernel_functions__find_in(struct kernel_function_list *list,
			      const struct kernel_function_sources *sources,
			      kernel_function_wanted wanted, void *context);

#endif
