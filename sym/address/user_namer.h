/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of user addresses, from files and from the mappings of processes.
 *
 * Any of these can keep a reader waiting for ever: a file system in user space
 * that does not answer, a process that holds the lock of its own mappings. This
 * runs in a child for that reason (sym/worker/worker.h), and says at every step what
 * it is about to touch.
 */
#ifndef TRACEKIT_SYM_ADDRESS_USER_NAMER_H
#define TRACEKIT_SYM_ADDRESS_USER_NAMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sym/child/supervisor.h"
#include "sym/util/arena.h"

struct sym_query;
struct sym_settings;
struct user_namer;

/*
 * All pointers are borrowed; names go into the arena. The namer is never freed: it lives as long as
 * its process. Returns 0 or -ENOMEM.
 */
int user_namer__new(struct user_namer **namer, struct arena *names,
		    const struct avoid_list *avoided, struct progress *progress,
		    const struct sym_settings *settings);

/*
 * Hold the files that have been passed to the socket (sym/process/passed_file.h). Returns a
 * negative errno if no more will come.
 */
int user_namer__hold_passed(struct user_namer *namer, int socket);

/* Functions of the caller, which user_namer__name() calls while it works. */
struct user_namer_caller {
	void *context;
	/* Called as soon as there is something to say about a query; again if there is more. */
	void (*emit)(void *context, const struct sym_query *query);
	/* Called before each process, and between files; it may call user_namer__hold_passed(). */
	void (*pause)(void *context);
};

/* As symbolizer__name_user() in sym/sym.h. */
int user_namer__name(struct user_namer *namer, struct sym_query *queries, size_t nr,
		     const struct user_namer_caller *caller);

#endif
