// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/worker/inbox.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "sym/worker/protocol.h"

void worker_inbox__clear(struct worker_inbox *inbox)
{
	inbox->used = inbox->filled = 0;
}

int worker_inbox__receive(struct worker_inbox *inbox, int socket)
{
	ssize_t got;

	inbox->filled -= inbox->used;
	memmove(inbox->bytes, inbox->bytes + inbox->used, inbox->filled);
	inbox->used = 0;
	got = recv(socket, inbox->bytes + inbox->filled, sizeof(inbox->bytes) - inbox->filled,
		   MSG_DONTWAIT);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	inbox->filled += (size_t)got;
	return got ? 1 : -EPIPE;
}

int worker_inbox__next(struct worker_inbox *inbox, struct answer *answer, const char **string)
{
	size_t left = inbox->filled - inbox->used, size = sizeof(*answer);

	if (left < size)
		return 0;
	memcpy(answer, inbox->bytes + inbox->used, sizeof(*answer));
	if (answer->length > STRING_LENGTH_MAX)
		return -EPROTO;
	size += answer->length;
	if (left < size)
		return 0;
	*string = inbox->bytes + inbox->used + sizeof(*answer);
	inbox->used += size;
	return 1;
}
