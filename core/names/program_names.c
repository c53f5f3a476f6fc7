// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/names/program_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/names/frame_names.h"
#include "core/names/frame_question.h"
#include "sym/sym.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/* Files that are told of for one question: far less than the symbolizer remembers. */
#define FILES_AT_ONCE 512

/* How the symbolizer is asked for a place. */
struct wish {
	struct sym_query question;
	uint64_t frame;
	size_t place; /* its index */
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
		frame_question__take(&queries[wishes[i].place], &asked[nr_asked]);
	}
	return err;
}

static bool is_new_file(const struct wish *wish, bool first)
{
	return wish->question.in_file && (first || wish->question.pid != wish[-1].question.pid);
}

/* As many at once as the symbolizer can remember files. */
static int ask(const struct frame_sources *sources, const struct wish *wishes, size_t nr,
	       struct sym_query *queries)
{
	int err = 0;

	for (size_t first = 0, end; first < nr && !err; first = end) {
		size_t files = 0;

		for (end = first; end < nr; end++) {
			if (!is_new_file(&wishes[end], end == first))
				continue;
			if (files++ == FILES_AT_ONCE)
				break;
			frame_question__tell_file(sources->symbolizer, wishes[end].frame,
						  sources->modules);
		}
		err = ask_some(sources->symbolizer, wishes + first, end - first, queries);
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
		struct wish *wish = &wishes[nr_wishes];

		wish->place = i;
		wish->frame = places[i].frame;
		nr_wishes += frame_question__make(&wish->question, &places[i], sources->modules);
	}
	array__sort(wishes, nr_wishes, sizeof(*wishes), compare_wishes);
	return ask(sources, wishes, nr_wishes, queries);
}
