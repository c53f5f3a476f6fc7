/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user behind sudo(8): whoever has typed the command line. */
#ifndef TRACEKIT_SYM_UTIL_INVOKER_H
#define TRACEKIT_SYM_UTIL_INVOKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Far more than a login gives; the kernel allows 65536. */
#define INVOKER_GROUPS_MAX 1024

struct invoker {
	uid_t uid;
	gid_t gid;
	gid_t groups[INVOKER_GROUPS_MAX];
	size_t nr_groups;
	char name[64], home[256]; /* empty: not known */
};

/* False if we do not run as root by sudo, for another user than root. */
bool invoker__find(struct invoker *invoker);

/*
 * Become that user for good, with environment variables that say so; sudo has put root's in their
 * places. Returns 0, or -1 with errno set.
 */
int invoker__become(const struct invoker *invoker);

#endif
