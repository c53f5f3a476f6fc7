// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/names/program_names.h"

#include <errno.h>
#include <stdlib.h>

#include "core/names/frame_names.h"
#include "core/names/frame_question.h"
#include "sym/sym.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/* How the symbolizer is asked for a place. */
struct wish {
	struct sym_query question;
	size_t place; /* its index */
};

static int compare_questions(const struct wish *a, const struct wish *b)
{
	int order = COMPARE(a->question.file, b->question.file);

	if (!order)
		order = COMPARE(a->question.pid, b->question.pid);
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
static int ask(struct symbolizer *symbolizer, const struct wish *wishes, size_t nr,
	       struct sym_query *queries)
{
	CLEANUP_FREE struct sym_query *asked = calloc(nr + 1, sizeof(*asked));
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

int program_names__find(const struct frame_sources *sources, const struct frame_place *places,
			struct sym_query *queries, size_t nr)
{
	CLEANUP(asked_files__release) struct asked_files files = {0};
	CLEANUP_FREE struct wish *wishes = calloc(nr + 1, sizeof(*wishes));
	size_t nr_wishes = 0;

	if (!wishes)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct wish *wish = &wishes[nr_wishes];
		int made =
			frame_question__make(&wish->question, &places[i], sources->modules, &files);

		if (made < 0)
			return made;
		wish->place = i;
		nr_wishes += (size_t)made;
	}
	array__sort(wishes, nr_wishes, sizeof(*wishes), compare_wishes);
	return ask(sources->symbolizer, wishes, nr_wishes, queries);
}
