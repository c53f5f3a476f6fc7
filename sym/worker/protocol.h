/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The talk between sym/worker/worker.c and its child, through a socket that keeps
 * messages whole (SOCK_SEQPACKET). The child is a copy of the parent: both sides
 * know these structs as they are.
 *
 * The child gets messages, each a struct request, with what belongs to it behind:
 *
 *   REQUEST_FILE      one of the files of a question; the first one has number 1
 *   REQUEST_NAME      a part of the question, which is answered when none is left
 *
 * It sends a stream of answers, whose borders are not those of messages.
 */
#ifndef TRACEKIT_SYM_WORKER_PROTOCOL_H
#define TRACEKIT_SYM_WORKER_PROTOCOL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "sym/types.h"

enum request_kind { REQUEST_FILE, REQUEST_NAME };

struct request {
	enum request_kind kind;
	/* REQUEST_NAME */
	uint64_t number; /* comes back with the answers */
	uint32_t nr;	 /* questions in this message */
	uint64_t left;	 /* in those that follow */
};

struct question {
	uint64_t index; /* comes back with the answer */
	uint64_t address, program;
	pid_t pid;
	bool return_address, in_file;
	uint32_t file; /* its number; 0: none */
};

/* A message with so many is below what every socket takes at once, however it is set up. */
#define QUESTIONS_MAX 64

struct sent_file {
	struct sym_file_id id;
	pid_t pid;
	char path[PATH_MAX]; /* sent as far as to its NUL */
};

struct message {
	struct request request;
	union {
		struct question questions[QUESTIONS_MAX];
		struct sent_file file;
	};
};

static inline size_t message__size(const struct message *message)
{
	size_t size = offsetof(struct message, questions);

	if (message->request.kind == REQUEST_FILE)
		size += offsetof(struct sent_file, path) + strlen(message->file.path) + 1;
	if (message->request.kind == REQUEST_NAME)
		size += message->request.nr * sizeof(message->questions[0]);
	return size;
}

enum answer_kind {
	ANSWER_STRING,	/* the next one of the request, from 1 on; its bytes follow */
	ANSWER_INLINED, /* a call that was inlined, of the query that is answered next */
	ANSWER_QUERY,	/* sent as soon as there is something to say about it */
	ANSWER_LAST,	/* of the request */
};

/* Strings are told by their numbers; 0: none. */
struct answer {
	enum answer_kind kind;
	uint32_t length; /* ANSWER_STRING: of what follows, which has no NUL */
	uint64_t number; /* of the request */
	/* ANSWER_QUERY */
	uint64_t index;
	uint64_t offset, module_offset, function_start, file_offset;
	uint32_t module, path, build_id;
	uint32_t generated, origin; /* as in struct sym_query */
	/* ANSWER_QUERY and ANSWER_INLINED */
	uint32_t name, symbol, file, line;
	/* ANSWER_LAST */
	int32_t result;	    /* 0 or a negative errno */
	uint32_t exhausted; /* the files asked for more work than they may */
};

/* Most calls of an address, innermost first; one more than shown tells that there are more. */
#define INLINED_MAX 63

/*
 * Most memory that the answers to one question may cost the parent, far above the names of any real
 * profile: strings with their NULs, and apart from these, since any file can claim calls without
 * end, struct sym_inlined. Answers beyond are not taken. A child does not send them, and both sides
 * count the strings for inlined calls: they leave room for names of functions.
 */
#define STRING_BYTES_MAX  ((size_t)32 * 1024 * 1024)
#define INLINED_BYTES_MAX ((size_t)16 * 1024 * 1024)

#define STRING_LENGTH_MAX 4096

/* Bytes that the child collects before it sends them; a string may come behind them. */
#define ANSWERS_SIZE 4096

#endif
