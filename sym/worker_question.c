// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/worker_question.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/arena.h"
#include "sym/sym.h"
#include "sym/worker_protocol.h"

/* What a child can make its parent allocate: far above the names of any real profile. */
#define STRINGS_BYTES_MAX ((size_t)32 * 1024 * 1024)

int worker_question__open(struct worker_question *question, struct sym_query *queries, size_t nr,
			  struct arena *names)
{
	bool *answered = calloc(nr + 1, sizeof(*answered));

	if (!answered)
		return -ENOMEM;
	*question = (struct worker_question){
		.open = true, .queries = queries, .nr = nr, .answered = answered, .names = names};
	return 0;
}

void worker_question__close(struct worker_question *question)
{
	free(question->answered);
	*question = (struct worker_question){0};
}

void worker_question__restart(struct worker_question *question, uint64_t number)
{
	question->number = number;
	question->next = 0;
	question->left = 0;
	question->sent = false;
	for (size_t i = 0; i < question->nr; i++)
		question->left += !question->answered[i];
}

size_t worker_question__fill(const struct worker_question *question, struct message *message)
{
	size_t i = question->next;
	uint32_t nr = 0;

	for (; i < question->nr && nr < QUESTIONS_MAX; i++)
		if (!question->answered[i])
			message->questions[nr++] = (struct question){
				.index = i,
				.address = question->queries[i].address,
				.pid = question->queries[i].pid,
				.return_address = question->queries[i].return_address,
			};
	message->request = (struct request){.kind = REQUEST_NAME,
					    .number = question->number,
					    .nr = nr,
					    .left = question->left - nr};
	return i;
}

void worker_question__note_sent(struct worker_question *question, const struct message *message,
				size_t next)
{
	question->next = next;
	question->left = message->request.left;
	question->sent = question->left == 0;
}

/* Neighbours often have the same string: one that is equal to previous is not kept again. */
static int keep_string(struct worker_question *question, const char *text, uint32_t field,
		       const char *previous, const char **string)
{
	size_t length = field - 1;

	*string = NULL;
	if (field == 0)
		return 0;
	if (previous && strlen(previous) == length && !memcmp(previous, text, length)) {
		*string = previous;
		return 0;
	}
	question->strings += length;
	if (question->strings > STRINGS_BYTES_MAX)
		return 0;
	*string = arena__copy_string(question->names, text, length);
	return *string ? 0 : -ENOMEM;
}

int worker_question__take(struct worker_question *question, const struct answer *answer,
			  const char *strings)
{
	struct sym_query *query;
	size_t name_length = answer->name ? answer->name - 1 : 0;
	int err;

	if (answer->index >= question->nr)
		return -EPROTO;
	err = keep_string(question, strings, answer->name, question->name, &question->name);
	if (!err)
		err = keep_string(question, strings + name_length, answer->module, question->module,
				  &question->module);
	if (err)
		return err;
	query = &question->queries[answer->index];
	query->offset = answer->offset;
	query->module_offset = answer->module_offset;
	query->name = question->name;
	query->module = question->module;
	question->answered[answer->index] = true;
	return 0;
}
