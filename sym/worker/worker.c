// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parent. It keeps the question that is open. The child that runs is sent what it does not know
 * yet, as far as its socket takes it; when a child is given up, the next one is sent all that has
 * not been answered.
 */
#include "sym/worker/worker.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/child/deadline.h"
#include "sym/child/supervisor.h"
#include "sym/types.h"
#include "sym/util/child.h"
#include "sym/worker/child.h"
#include "sym/worker/inbox.h"
#include "sym/worker/protocol.h"
#include "sym/worker/question.h"

/* Messages that are sent, or received, before the caller gets its turn again. */
#define MESSAGES_AT_ONCE 64

struct worker {
	pid_t pid; /* of the child; 0: none is running */
	int socket;
	struct progress *progress; /* shared with the child */
	struct avoid_list avoided;
	pid_t given_up[AVOIDED_MAX]; /* children that may not have ended; else 0 */
	struct sym_settings settings;
	size_t unanswered;
	uint64_t last_number; /* of a request */
	struct worker_inbox inbox;
	bool congested; /* the socket did not take all that there was to send */

	struct worker_question question;
	int failure; /* why a question has ended, not yet reported */

	struct deadline deadline; /* with the child, while something is open */
};

/* True if a child has something to do. */
static bool is_open(const struct worker *worker)
{
	return worker->pid && worker->question.open;
}

static void note_progress(struct worker *worker)
{
	deadline__note_progress(&worker->deadline, worker->progress);
}

/* ---- a child's life ---- */

/* Returns 0, -ECANCELED if no further child should start, or another negative errno. */
static int start_child(struct worker *worker)
{
	int sockets[2];
	pid_t pid;

	if (worker->avoided.nr == AVOIDED_MAX)
		return -ECANCELED;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	pid = fork();
	if (pid == 0)
		worker_child__run(sockets[1], &worker->avoided, worker->progress,
				  &worker->settings);
	child__note_start(&worker_child_role, pid);
	close(sockets[1]);
	if (pid < 0) {
		int err = -errno;

		close(sockets[0]);
		return err;
	}
	worker->pid = pid;
	worker->socket = sockets[0];
	worker_inbox__clear(&worker->inbox);
	worker->congested = false;
	worker_question__restart(&worker->question, ++worker->last_number);
	note_progress(worker);
	return 0;
}

/*
 * A child that does nothing ends when its socket does; but if it has to close a file that does not
 * answer, it may never end. A busy child is not worth waiting for.
 */
static void stop_child(struct worker *worker)
{
	bool idle = !is_open(worker);

	if (!worker->pid)
		return;
	close(worker->socket);
	if (!idle || !deadline__await_end(worker->pid, SILENCE_MS, NULL))
		(void)deadline__kill(worker->pid, 2 * LOOK_MS);
	child__note_end(&worker_child_role, worker->pid, 0);
}

/* A child that was given up is a zombie once it ends, but not for long. */
static void reap_given_up(struct worker *worker)
{
	for (size_t i = 0; i < worker->avoided.nr; i++)
		if (worker->given_up[i] && waitpid(worker->given_up[i], NULL, WNOHANG))
			worker->given_up[i] = 0;
}

static void say_avoided(const struct progress *progress, bool silent)
{
	const char *what = progress->jit    ? "the JIT map of" :
			   progress->debug  ? "debug files for" :
			   progress->device ? "a file of" :
					      "the mappings of";

	if (silent && progress->device)
		debug_log__say(DEBUG_LOG_NAMES, "it was at %s %d; device %u:%u is avoided", what,
			       progress->pid, major(progress->device), minor(progress->device));
	else
		debug_log__say(DEBUG_LOG_NAMES, "it was at %s %d, which is avoided", what,
			       progress->pid);
}

/*
 * Do not wait for the child: it may never end. Avoid what it was touching from now on: the whole
 * file system, if that did not answer and is none on a disk, else the process.
 */
static void give_up_child(struct worker *worker, int err)
{
	struct avoid_list *avoided = &worker->avoided;
	const struct progress *progress = worker->progress;
	bool silent = err == -ETIMEDOUT && major(progress->device) == 0;

	child__note_end(&worker_child_role, worker->pid, err);
	say_avoided(progress, silent);
	close(worker->socket);
	(void)deadline__kill(worker->pid, 0);
	worker->given_up[avoided->nr] = worker->pid;
	worker->pid = 0;
	worker->unanswered++;
	avoided->items[avoided->nr].pid = progress->pid;
	avoided->items[avoided->nr].device = silent ? progress->device : 0;
	avoided->items[avoided->nr].jit = progress->jit;
	avoided->items[avoided->nr].debug = progress->debug;
	avoided->nr++;
	reap_given_up(worker);
}

/* err: 0, or why it cannot go on. */
static void end_question(struct worker *worker, int err)
{
	worker_question__close(&worker->question);
	worker->failure = err;
}

/*
 * Another child goes on with what is left, as long as there is time and room for one more
 * thing to avoid. What has no name at the end has none; worker__unanswered() says so.
 */
static void replace_child(struct worker *worker, int why)
{
	int err = 0;

	give_up_child(worker, why);
	if (why == -ENOMEM)
		end_question(worker, why);
	else if (why == -ETIME || worker->avoided.nr == AVOIDED_MAX)
		end_question(worker, 0);
	if (worker->question.open)
		err = start_child(worker);
	if (err)
		end_question(worker, err == -ECANCELED ? 0 : err);
}

int worker__new(struct worker **out, const struct sym_settings *settings)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	void *shared;

	if (!worker)
		return -ENOMEM;
	shared = mmap(NULL, sizeof(*worker->progress), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		free(worker);
		return -ENOMEM;
	}
	worker->progress = shared;
	worker->settings = *settings;
	*out = worker;
	return 0;
}

void worker__free(struct worker *worker)
{
	if (!worker)
		return;
	stop_child(worker);
	reap_given_up(worker);
	munmap(worker->progress, sizeof(*worker->progress));
	worker_question__close(&worker->question);
	free(worker);
}

/* ---- to the child ---- */

/* Returns 0, -EAGAIN, or another negative errno. */
static int send_message(struct worker *worker, const struct message *message)
{
	ssize_t put;

	do
		put = send(worker->socket, message, message__size(message),
			   MSG_DONTWAIT | MSG_NOSIGNAL);
	while (put < 0 && errno == EINTR);
	if (put >= 0)
		return 0;
	worker->congested = errno == EAGAIN;
	return -errno;
}

static int send_part(struct worker *worker)
{
	struct message message;
	size_t next = worker_question__fill(&worker->question, &message);
	int err = send_message(worker, &message);

	if (err)
		return err;
	worker_question__note_sent(&worker->question, &message, next);
	note_progress(worker);
	return 0;
}

static int send_waiting(struct worker *worker)
{
	int err = 0;

	worker->congested = false;
	for (int sent = 0; sent < MESSAGES_AT_ONCE && !err; sent++) {
		if (!worker->question.open || worker->question.sent)
			return 0;
		err = send_part(worker);
	}
	worker->congested = true;
	return err == -EAGAIN ? 0 : err;
}

/* ---- from the child ---- */

static int take_answer(struct worker *worker, const struct answer *answer, const char *string)
{
	struct worker_question *question = &worker->question;

	if (!question->open || answer->number != question->number)
		return -EPROTO;
	if (answer->kind != ANSWER_LAST)
		return worker_question__take(question, answer, string);
	worker->unanswered += answer->exhausted != 0;
	if (answer->result)
		return answer->result < 0 ? answer->result : -EPROTO;
	worker_question__close(question);
	return 0;
}

/* All answers that have come as a whole. */
static int take_answers(struct worker *worker)
{
	struct answer answer;
	const char *string;
	int err;

	while ((err = worker_inbox__next(&worker->inbox, &answer, &string)) > 0) {
		err = take_answer(worker, &answer, string);
		if (err)
			break;
	}
	return err;
}

/* Returns 0, -EPIPE if the child has ended, or why else it is to be given up. */
static int receive_answers(struct worker *worker)
{
	int err = 0;

	for (int received = 0; received < MESSAGES_AT_ONCE && !err; received++) {
		int got = worker_inbox__receive(&worker->inbox, worker->socket);

		if (got <= 0)
			return got;
		note_progress(worker);
		err = take_answers(worker);
	}
	return err;
}

/* ---- both ways ---- */

static void advance(struct worker *worker)
{
	int err;

	reap_given_up(worker);
	if (!is_open(worker))
		return;
	err = receive_answers(worker);
	if (!err)
		err = send_waiting(worker);
	if (!err && is_open(worker))
		err = deadline__check(&worker->deadline, worker->progress, worker->pid);
	if (err)
		replace_child(worker, err);
}

int worker__attend(struct worker *worker)
{
	int failure;

	advance(worker);
	failure = worker->failure;
	worker->failure = 0;
	return failure ? failure : worker->question.open;
}

int worker__poll(const struct worker *worker, struct pollfd *pollfd)
{
	bool open = is_open(worker);

	pollfd->fd = open ? worker->socket : -1;
	pollfd->events = worker->congested ? POLLIN | POLLOUT : POLLIN;
	pollfd->revents = 0;
	return open ? LOOK_MS : -1;
}

static void wait_for_child(const struct worker *worker)
{
	struct pollfd pollfd;
	int timeout = worker__poll(worker, &pollfd);

	poll(&pollfd, 1, timeout);
}

int worker__start(struct worker *worker)
{
	return worker->pid ? 0 : start_child(worker);
}

int worker__ask(struct worker *worker, struct sym_query *queries, size_t nr, struct arena *names)
{
	int err;

	if (worker->question.open)
		return -EBUSY;
	if (nr == 0 || worker->avoided.nr == AVOIDED_MAX)
		return 0;
	err = worker->pid ? 0 : start_child(worker);
	if (err)
		return err;
	err = worker_question__open(&worker->question, queries, nr, names);
	if (err)
		return err;
	deadline__renew(&worker->deadline, DEADLINE_MS);
	worker_question__restart(&worker->question, ++worker->last_number);
	note_progress(worker);
	advance(worker);
	return 0;
}

int worker__name(struct worker *worker, struct sym_query *queries, size_t nr, struct arena *names)
{
	int err = worker__ask(worker, queries, nr, names);

	if (err)
		return err;
	for (;;) {
		int open = worker__attend(worker);

		if (open <= 0)
			return open;
		wait_for_child(worker);
	}
}

size_t worker__unanswered(const struct worker *worker)
{
	return worker->unanswered;
}

bool worker__has_incomplete_debug(const struct worker *worker)
{
	return worker->progress->incomplete_debug;
}
