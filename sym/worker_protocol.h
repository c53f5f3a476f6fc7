/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sym/worker.c and its child say to each other, through a socket that keeps
 * messages whole (SOCK_SEQPACKET). The child is a copy of the parent: both sides
 * know these structs as they are.
 *
 * To the child go messages, each a struct request, with some questions behind it:
 *
 *   REQUEST_REMEMBER  one process; served soon, also while a question is open
 *   REQUEST_NAME      a part of a question, which is answered when none is left
 *
 * Back comes a stream of answers, whose borders are not those of messages.
 */
#ifndef TRACEKIT_SYM_WORKER_PROTOCOL_H
#define TRACEKIT_SYM_WORKER_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum request_kind { REQUEST_REMEMBER, REQUEST_NAME };

struct request {
	enum request_kind kind;
	uint64_t number; /* comes back with the answers */
	/* REQUEST_REMEMBER: as of remembered_list__add() */
	pid_t pid;
	bool kept;
	uint64_t start_time;
	/* REQUEST_NAME */
	uint32_t nr;   /* questions in this message */
	uint64_t left; /* in those that follow */
};

struct question {
	uint64_t index; /* comes back with the answer */
	uint64_t address;
	pid_t pid;
	uint32_t return_address;
};

/* With its questions below what every socket takes at once, however it is set up. */
#define QUESTIONS_MAX 128

struct message {
	struct request request;
	struct question questions[QUESTIONS_MAX];
};

static inline size_t message__size(const struct message *message)
{
	return offsetof(struct message, questions) +
	       message->request.nr * sizeof(message->questions[0]);
}

/*
 * The child sends one for each query as soon as there is something to say about
 * it, and the last one of each request with ANSWER_LAST. name and module: 0 for none,
 * else the length of the string that follows, and 1.
 */
struct answer {
	uint64_t number; /* of the request */
	uint64_t index;
	uint64_t offset, module_offset;
	uint32_t name, module;
	/* ANSWER_LAST */
	int32_t result;	     /* 0 or a negative errno */
	uint32_t exhausted;  /* the files asked for more work than they may */
	uint64_t start_time; /* of the process that is remembered */
};

#define ANSWER_LAST UINT64_MAX

#define STRING_LENGTH_MAX 4096

/* What the child collects before it sends it; it may come with a string behind it. */
#define ANSWERS_SIZE 4096

#endif
