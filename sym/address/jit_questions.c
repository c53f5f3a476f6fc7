// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/address/jit_questions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "sym/address/jit_map.h"
#include "sym/address/user_namer.h"
#include "sym/child/supervisor.h"
#include "sym/process/held_files.h"
#include "sym/process/process.h"
#include "sym/process/supervised.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

struct jit_question {
	struct sym_query *query;
	pid_t task;
};

int jit_questions__add(struct jit_questions *questions, struct sym_query *query, pid_t task)
{
	query->generated = true;
	if (ARRAY_GROW(questions->items, questions->nr, questions->capacity))
		return -ENOMEM;
	questions->items[questions->nr++] = (struct jit_question){.query = query, .task = task};
	return 0;
}

void jit_questions__release(struct jit_questions *questions)
{
	free(questions->items);
	*questions = (struct jit_questions){0};
}

static int open_map(const struct jit_source *source, const struct jit_question *question)
{
	const struct process process = {.pid = question->query->pid, .task = question->task};
	int fd = -ENOENT;

	if (process.task)
		fd = supervisor__open_jit_map(source->held->supervisor, &process, -1);
	return fd >= 0 ? fd :
			 held_files__open_map(source->held, process.pid, question->query->program);
}

static int compare(const void *a, const void *b)
{
	const struct jit_question *left = a, *right = b;

	return COMPARE(sym_query__lookup_address(left->query),
		       sym_query__lookup_address(right->query));
}

/* All of one program. */
static int answer(struct jit_question *questions, size_t nr, const struct jit_source *source,
		  const struct user_namer_caller *caller)
{
	CLEANUP_FREE struct jit_lookup *lookups = calloc(nr, sizeof(*lookups));
	CLEANUP_CLOSE int fd = open_map(source, &questions[0]);
	struct progress *progress = source->held->supervisor->progress;
	int err = 0;

	if (!lookups)
		return -ENOMEM;
	(void)progress__note_left_out(progress, fd);
	array__sort(questions, nr, sizeof(*questions), compare);
	for (size_t i = 0; i < nr; i++)
		lookups[i].address = sym_query__lookup_address(questions[i].query);
	if (fd >= 0)
		err = progress__note_left_out(progress,
					      jit_map__find(source->indexes, fd, lookups, nr,
							    source->names, &progress->work));
	for (size_t i = 0; i < nr && !err; i++) {
		struct sym_query *query = questions[i].query;

		query->name = lookups[i].name;
		query->origin = query->name ? SYM_JIT_MAP : SYM_NOWHERE;
		query->offset = query->name ? query->address - lookups[i].start : 0;
		caller->emit(caller->context, query);
	}
	return err;
}

static bool is_same_program(const struct jit_question *a, const struct jit_question *b)
{
	return a->query->pid == b->query->pid && a->query->program == b->query->program;
}

int jit_questions__answer(struct jit_questions *questions, const struct jit_source *source,
			  const struct user_namer_caller *caller)
{
	struct jit_question *items = questions->items;
	int err = 0;

	for (size_t first = 0, end; first < questions->nr && !err; first = end) {
		for (end = first + 1; end < questions->nr; end++)
			if (!is_same_program(&items[first], &items[end]))
				break;
		caller->pause(caller->context);
		err = answer(&items[first], end - first, source, caller);
	}
	return err;
}
