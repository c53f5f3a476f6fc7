/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes from the child of sym/worker/worker.h that are not yet used. */
#ifndef TRACEKIT_SYM_WORKER_INBOX_H
#define TRACEKIT_SYM_WORKER_INBOX_H

#include <stddef.h>

struct answer;

/* Part of an answer at most, when all that are whole have been taken out. */
struct worker_inbox {
	char bytes[32 * 1024];
	size_t used, filled;
};

void worker_inbox__clear(struct worker_inbox *inbox);

/* Returns 1, 0 if there is nothing, -EPIPE at the end of the child, or another negative errno. */
int worker_inbox__receive(struct worker_inbox *inbox, int socket);

/*
 * The next answer; *string, what follows it, is valid until more is received. Returns 1, 0 if none
 * is whole, or -EPROTO.
 */
int worker_inbox__next(struct worker_inbox *inbox, struct answer *answer, const char **string);

#endif
