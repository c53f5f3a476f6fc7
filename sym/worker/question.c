// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/worker/question.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/types.h"
#include "sym/util/arena.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/debug_log.h"
#include "sym/util/pointer_map.h"
#include "sym/worker/protocol.h"

#define TEXT_SIZE (PATH_MAX + 64)

/* Give each file of the queries a number. */
static int number_files(struct worker_question *question)
{
	CLEANUP(pointer_map__release) struct pointer_map numbers = {0};

	for (size_t i = 0; i < question->nr; i++) {
		const struct sym_mapped_file *file = question->queries[i].file;
		uintptr_t *number = file ? pointer_map__at(&numbers, file) : NULL;

		if (!file)
			continue;
		if (!number ||
		    ARRAY_GROW(question->files, question->nr_files, question->files_capacity))
			return -ENOMEM;
		if (!*number) {
			question->files[question->nr_files++] = file;
			*number = question->nr_files;
		}
		question->file_of[i] = (uint32_t)*number;
	}
	return 0;
}

/* For TRACEKIT_DEBUG: "0x1139 of process 4711", "0x1139 in /usr/bin/ls". */
static const char *text_of(const struct sym_query *query, char *text, size_t size)
{
	if (query->file)
		snprintf(text, size, "0x%" PRIx64 " in %s", query->address, query->file->path);
	else
		snprintf(text, size, "0x%" PRIx64 " of process %d", query->address, query->pid);
	return text;
}

static void say_questions(const struct worker_question *question)
{
	char text[TEXT_SIZE];

	for (size_t i = 0; debug_log__has(DEBUG_LOG_NAMES) && i < question->nr; i++)
		debug_log__print(DEBUG_LOG_NAMES, "asks for %s",
				 text_of(&question->queries[i], text, sizeof(text)));
}

static void say_answer(const struct sym_query *query)
{
	char text[TEXT_SIZE];

	if (!debug_log__has(DEBUG_LOG_NAMES))
		return;
	text_of(query, text, sizeof(text));
	if (query->name)
		debug_log__print(DEBUG_LOG_NAMES, "%s is %s+0x%" PRIx64 " in %s, by %s", text,
				 query->name, query->offset,
				 query->module ? query->module : "memory",
				 sym_origin__text(query->origin));
	else
		debug_log__print(DEBUG_LOG_NAMES, "%s has no name; it is %s+0x%" PRIx64, text,
				 query->module ? query->module : "memory", query->module_offset);
}

static void say_end(const struct worker_question *question)
{
	size_t nr = 0;

	for (size_t i = 0; question->open && i < question->nr; i++)
		nr += question->answered[i];
	if (question->open)
		debug_log__say(DEBUG_LOG_NAMES, "%zu of %zu addresses were answered", nr,
			       question->nr);
}

int worker_question__open(struct worker_question *question, struct sym_query *queries, size_t nr,
			  struct arena *names)
{
	int err = -ENOMEM;

	*question = (struct worker_question){
		.open = true, .queries = queries, .nr = nr, .names = names};
	question->answered = calloc(nr + 1, sizeof(*question->answered));
	question->file_of = calloc(nr + 1, sizeof(*question->file_of));
	if (question->answered && question->file_of)
		err = number_files(question);
	if (err)
		worker_question__close(question);
	else
		say_questions(question);
	return err;
}

void worker_question__close(struct worker_question *question)
{
	if (debug_log__has(DEBUG_LOG_NAMES) && question->answered)
		say_end(question);
	free(question->answered);
	free(question->file_of);
	free(question->files);
	free(question->strings);
	free(question->inlined);
	*question = (struct worker_question){0};
}

void worker_question__restart(struct worker_question *question, uint64_t number)
{
	question->number = number;
	question->next_file = 0;
	question->next = 0;
	question->left = 0;
	question->sent = false;
	question->nr_strings = 0;
	question->nr_inlined = 0;
	for (size_t i = 0; i < question->nr; i++)
		question->left += !question->answered[i];
}

static void fill_file(const struct sym_mapped_file *file, struct message *message)
{
	message->request = (struct request){.kind = REQUEST_FILE};
	message->file.id = file->id;
	message->file.pid = file->pid;
	snprintf(message->file.path, sizeof(message->file.path), "%s", file->path);
}

size_t worker_question__fill(const struct worker_question *question, struct message *message)
{
	size_t i = question->next;
	uint32_t nr = 0;

	if (question->next_file < question->nr_files) {
		fill_file(question->files[question->next_file], message);
		return i;
	}
	for (; i < question->nr && nr < QUESTIONS_MAX; i++)
		if (!question->answered[i])
			message->questions[nr++] = (struct question){
				.index = i,
				.address = question->queries[i].address,
				.pid = question->queries[i].pid,
				.program = question->queries[i].program,
				.return_address = question->queries[i].return_address,
				.in_file = question->queries[i].in_file,
				.file = question->file_of[i],
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
	if (message->request.kind == REQUEST_FILE) {
		question->next_file++;
		return;
	}
	question->next = next;
	question->left = message->request.left;
	question->sent = question->left == 0;
}

/*
 * Memory for answers as long as no more than max bytes are used; NULL beyond, and from then on for
 * all, or a string would get the number of another one. *err: -ENOMEM, or unchanged.
 */
static void *take_memory(const struct worker_question *question, size_t size, size_t *used,
			 size_t max, int *err)
{
	void *memory;

	*used += size;
	if (*used > max)
		return NULL;
	memory = arena__alloc(question->names, size);
	if (!memory)
		*err = -ENOMEM;
	return memory;
}

/* Strings without memory have no numbers, and are missing where they are told of. */
static int take_string(struct worker_question *question, const struct answer *answer,
		       const char *string)
{
	int err = 0;
	char *copy = take_memory(question, answer->length + 1, &question->string_bytes,
				 STRING_BYTES_MAX, &err);

	if (!copy)
		return err;
	memcpy(copy, string, answer->length);
	copy[answer->length] = '\0';
	if (ARRAY_GROW(question->strings, question->nr_strings, question->strings_capacity))
		return -ENOMEM;
	question->strings[question->nr_strings++] = copy;
	return 0;
}

static const char *string_of(const struct worker_question *question, uint32_t number)
{
	return number && number <= question->nr_strings ? question->strings[number - 1] : NULL;
}

static struct sym_source source_of(const struct worker_question *question,
				   const struct answer *answer)
{
	return (struct sym_source){.file = string_of(question, answer->file), .line = answer->line};
}

static int take_inlined(struct worker_question *question, const struct answer *answer)
{
	if (question->nr_inlined == INLINED_MAX)
		return -EPROTO;
	if (ARRAY_GROW(question->inlined, question->nr_inlined, question->inlined_capacity))
		return -ENOMEM;
	question->inlined[question->nr_inlined++] =
		(struct sym_inlined){.name = string_of(question, answer->name),
				     .symbol = string_of(question, answer->symbol),
				     .source = source_of(question, answer)};
	return 0;
}

/* The inlined calls that have come become those of this query. */
static int keep_inlined(struct worker_question *question, struct sym_query *query)
{
	size_t size = question->nr_inlined * sizeof(*question->inlined);
	struct sym_inlined *inlined;
	int err = 0;

	query->nr_inlined = 0;
	if (size == 0)
		return 0;
	inlined = take_memory(question, size, &question->inlined_bytes, INLINED_BYTES_MAX, &err);
	if (inlined) {
		memcpy(inlined, question->inlined, size);
		query->inlined = inlined;
		query->nr_inlined = (uint32_t)question->nr_inlined;
	}
	question->nr_inlined = 0;
	return err;
}

static int take_query(struct worker_question *question, const struct answer *answer)
{
	struct sym_query *query;

	if (answer->index >= question->nr || answer->origin >= NR_SYM_ORIGINS)
		return -EPROTO;
	query = &question->queries[answer->index];
	query->offset = answer->offset;
	query->module_offset = answer->module_offset;
	query->function_start = answer->function_start;
	query->name = string_of(question, answer->name);
	query->symbol = string_of(question, answer->symbol);
	query->module = string_of(question, answer->module);
	query->path = string_of(question, answer->path);
	query->build_id = string_of(question, answer->build_id);
	query->file_offset = answer->file_offset;
	query->source = source_of(question, answer);
	query->generated = answer->generated != 0;
	query->origin = (enum sym_origin)answer->origin;
	question->answered[answer->index] = true;
	say_answer(query);
	return keep_inlined(question, query);
}

int worker_question__take(struct worker_question *question, const struct answer *answer,
			  const char *string)
{
	switch (answer->kind) {
	case ANSWER_STRING:
		return take_string(question, answer, string);
	case ANSWER_INLINED:
		return take_inlined(question, answer);
	case ANSWER_QUERY:
		return take_query(question, answer);
	default:
		return -EPROTO;
	}
}
