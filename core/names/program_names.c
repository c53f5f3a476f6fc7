// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/names/program_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/names/frame_names.h"
#include "core/unwind/modules.h"
#include "sym/sym.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/* Files that are told of for one question: far less than the symbolizer remembers. */
#define FILES_AT_ONCE 512

/* How the symbolizer is asked for a place. */
struct wish {
	struct sym_query question;
	const struct unwind_module_file *file; /* that it is in; or NULL */
	size_t place;			       /* its index */
};

static int compare_questions(const struct wish *a, const struct wish *b)
{
	int order = COMPARE(a->question.pid, b->question.pid);

	if (!order)
		order = COMPARE(a->question.program, b->question.program);
	if (!order)
		order = COMPARE(a->question.address, b->question.address);
	return order ? order : COMPARE(a->question.return_address, b->question.return_address);
}

static int compare_wishes(const void *a, const void *b)
{
	const struct wish *left = a, *right = b;
	int order = compare_questions(left, right);

	return order ? order : COMPARE(left->place, right->place);
}

/* The symbolizer knows a file as a process with a PID that there is not. */
static pid_t file_pid(uint32_t module)
{
	return -(pid_t)(module + 1);
}

/* Returns false if there is nobody to ask: the file could not be found. */
static bool make_wish(struct wish *wish, const struct frame_sources *sources,
		      const struct frame_place *place)
{
	struct sym_query *question = &wish->question;

	*question = frame__query(place->frame, (pid_t)place->tgid, place->return_address,
				 sources->modules);
	question->program = place->program;
	wish->file = NULL;
	if (frame_tag(place->frame) != FRAME_MODULE)
		return true;
	wish->file = &sources->modules->items[frame_module(place->frame)];
	question->pid = file_pid(frame_module(place->frame));
	question->program = 0;
	return unwind_module_file__is_found(wish->file);
}

static void tell_of_file(struct symbolizer *symbolizer, const struct wish *wish)
{
	const struct unwind_module_file file = unwind_module_file__copy(wish->file);
	struct sym_mapping mapping;
	const struct sym_image image = unwind_module_file__image(&file, &mapping);

	(void)symbolizer__remember_soon(symbolizer, wish->question.pid, &image);
}

/* A place in a file stays one: another process was asked. */
static void take_answer(struct sym_query *query, const struct sym_query *answer)
{
	const struct sym_query asked = *query;

	*query = *answer;
	query->pid = asked.pid;
	query->address = asked.address;
	query->in_file = asked.in_file;
}

/* All wishes, which are sorted; equal ones at once. */
static int ask_some(struct symbolizer *symbolizer, const struct wish *wishes, size_t nr,
		    struct sym_query *queries)
{
	CLEANUP_FREE struct sym_query *asked = calloc(nr, sizeof(*asked));
	size_t nr_asked = 0;
	int err;

	if (!asked)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (i == 0 || compare_questions(&wishes[i], &wishes[i - 1]))
			asked[nr_asked++] = wishes[i].question;
	err = symbolizer__name_user(symbolizer, asked, nr_asked);
	nr_asked = 0;
	for (size_t i = 0; i < nr; i++) {
		nr_asked += i != 0 && compare_questions(&wishes[i], &wishes[i - 1]);
		take_answer(&queries[wishes[i].place], &asked[nr_asked]);
	}
	return err;
}

/* As many at once as the symbolizer can remember files. */
static int ask(struct symbolizer *symbolizer, const struct wish *wishes, size_t nr,
	       struct sym_query *queries)
{
	int err = 0;

	for (size_t first = 0, end; first < nr && !err; first = end) {
		size_t files = 0;

		for (end = first; end < nr && files <= FILES_AT_ONCE; end++) {
			const struct wish *wish = &wishes[end];

			if (!wish->file ||
			    (end > first && wish->question.pid == wish[-1].question.pid))
				continue;
			if (++files <= FILES_AT_ONCE)
				tell_of_file(symbolizer, wish);
			else
				break;
		}
		err = ask_some(symbolizer, wishes + first, end - first, queries);
	}
	return err;
}

int program_names__find(const struct frame_sources *sources, const struct frame_place *places,
			struct sym_query *queries, size_t nr)
{
	CLEANUP_FREE struct wish *wishes = calloc(nr + 1, sizeof(*wishes));
	size_t nr_wishes = 0;

	if (!wishes)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		wishes[nr_wishes].place = i;
		nr_wishes += make_wish(&wishes[nr_wishes], sources, &places[i]);
	}
	array__sort(wishes, nr_wishes, sizeof(*wishes), compare_wishes);
	return ask(sources->symbolizer, wishes, nr_wishes, queries);
}
