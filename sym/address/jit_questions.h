/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of generated code, collected, so that each program's JIT map is read once for all. */
#ifndef TRACEKIT_SYM_ADDRESS_JIT_QUESTIONS_H
#define TRACEKIT_SYM_ADDRESS_JIT_QUESTIONS_H

#include <stddef.h>
#include <sys/types.h>

#include "sym/address/jit_index.h"

struct arena;
struct held_files;
struct jit_question;
struct sym_query;
struct user_namer_caller;

/* Who answers; all is borrowed. */
struct jit_source {
	const struct held_files *held;
	struct jit_index_list *indexes;
	struct arena *names;
};

/* All zero is empty. */
struct jit_questions {
	struct jit_question *items; /* program by program */
	size_t nr, capacity;
};

/* task: of the query's process, as in struct process; 0: the program is gone. 0 or -ENOMEM. */
int jit_questions__add(struct jit_questions *questions, struct sym_query *query, pid_t task);

/*
 * Answer all of them: the caller is told of each query. A map is read as it is now, or as it was
 * when it was passed. Returns 0 or -ENOMEM.
 */
int jit_questions__answer(struct jit_questions *questions, const struct jit_source *source,
			  const struct user_namer_caller *caller);

void jit_questions__release(struct jit_questions *questions);

#endif
