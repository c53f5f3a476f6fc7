/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The question that a worker was asked: how it is told to a child, and answered. */
#ifndef TRACEKIT_SYM_WORKER_QUESTION_H
#define TRACEKIT_SYM_WORKER_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer;
struct arena;
struct message;
struct sym_inlined;
struct sym_mapped_file;
struct sym_query;

struct worker_question {
	bool open;
	uint64_t number; /* of the request to the child that runs */
	struct sym_query *queries;
	size_t nr;
	bool *answered;	   /* by query */
	uint32_t *file_of; /* by query: the number of its file, from 1 on; 0: none */
	const struct sym_mapped_file **files; /* each once */
	size_t nr_files, files_capacity;
	size_t next_file;     /* to be sent; then the queries come */
	struct arena *names;  /* for the strings of answers */
	size_t string_bytes;  /* of them so far */
	size_t inlined_bytes; /* and of inlined calls */
	const char **strings; /* that the child that runs has told, by their numbers, from 1 on */
	size_t nr_strings, strings_capacity;
	struct sym_inlined *inlined; /* of the query that is answered next */
	size_t nr_inlined, inlined_capacity;
	size_t next;   /* query to be sent */
	uint64_t left; /* to be sent, from next on */
	bool sent;     /* nothing is left, and that was said */
};

/* queries, with their files, and names are borrowed until it is closed. Returns 0 or -ENOMEM. */
int worker_question__open(struct worker_question *question, struct sym_query *queries, size_t nr,
			  struct arena *names);
void worker_question__close(struct worker_question *question);

/* Send a new child, under this number, all that has not been answered. */
void worker_question__restart(struct worker_question *question, uint64_t number);

/* The next part to be sent; returns what next becomes when it is. */
size_t worker_question__fill(const struct worker_question *question, struct message *message);
void worker_question__note_sent(struct worker_question *question, const struct message *message,
				size_t next);

/* An answer; string: what follows it. Returns 0, -EPROTO or -ENOMEM. */
int worker_question__take(struct worker_question *question, const struct answer *answer,
			  const char *string);

#endif
