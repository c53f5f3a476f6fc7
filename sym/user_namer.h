/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of user addresses, from the mappings and files of processes.
 *
 * Any of these can keep a reader waiting for ever: a file system in user space
 * that does not answer, a process that holds the lock of its own mappings. This
 * runs in a child for that reason (sym/worker.h), and says at every step what
 * it is about to touch.
 */
#ifndef TRACEKIT_SYM_USER_NAMER_H
#define TRACEKIT_SYM_USER_NAMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/util/arena.h"

struct sym_query;
struct user_namer;

/* Seen by whoever watches: as long as steps or work change, there is progress. */
struct progress {
	uint64_t steps;
	pid_t pid;     /* whose mappings or files are touched */
	dev_t device;  /* of the file; 0: not known, or the mappings are read */
	bool jit;      /* it is a JIT map */
	uint64_t work; /* left for this call: see elf_symbols__find() */
	bool left_out; /* something was too large to be read to its end */
};

/*
 * What did not answer, and is not asked again. JIT maps are avoided as a kind when
 * the second one has not answered: they come last, and are worth no more time.
 */
#define AVOIDED_MAX	8
#define AVOIDED_JIT_MAX 2

struct avoid_list {
	struct {
		pid_t pid;
		dev_t device; /* whoever has mapped its files; 0: the process as a whole */
		bool jit;     /* only the JIT map of the process */
	} items[AVOIDED_MAX];
	size_t nr;
};

/*
 * All pointers are borrowed; names go into the arena, those of C++ and Rust
 * demangled if wanted. It is never freed: it
 * lives as long as its process. Returns 0 or -ENOMEM.
 */
int user_namer__new(struct user_namer **namer, struct arena *names,
		    const struct avoid_list *avoided, struct progress *progress, bool demangles);

/* As symbolizer__remember() in sym/sym.h. */
int user_namer__remember(struct user_namer *namer, pid_t pid);

/* Called once for each query about which there is something to say, as soon as there is. */
typedef void (*user_namer_emit)(void *context, const struct sym_query *query);

/* As symbolizer__name_user() in sym/sym.h, with the answers also given to emit. */
int user_namer__name(struct user_namer *namer, struct sym_query *queries, size_t nr,
		     user_namer_emit emit, void *context);

#endif
