// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parent. It keeps what a child is to do: a question, and the processes to be remembered. The
 * child that runs is sent what it does not know yet, as far as its socket takes it; when a child is
 * given up, the next one is sent all of that again.
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
#include "sym/worker/child.h"
#include "sym/worker/inbox.h"
#include "sym/worker/protocol.h"
#include "sym/worker/question.h"
#include "sym/worker/told.h"

/* Messages that are sent, or received, before the caller gets its turn again. */
#define MESSAGES_AT_ONCE 64

/*
 * Processes that a new child is told of before it has answered for one: a process that
 * shows up meanwhile is not to wait for hundreds.
 */
#define TOLD_AT_ONCE 8

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

	struct told_list told;
	size_t in_flight;   /* requests to remember without an answer so far */
	pid_t awaited;	    /* whose answer worker__remember() waits for, or 0 */
	int awaited_result; /* of that */

	struct deadline deadline; /* with the child, while something is open */
};

/* True if a child has something to do, or would have if it could be told. */
static bool is_open(const struct worker *worker)
{
	return worker->pid &&
	       (worker->question.open || worker->in_flight || told_list__next(&worker->told, true));
}

/* Each request has its time from when the one before was served; a question, from the start. */
static void renew_deadline(struct worker *worker)
{
	if (!worker->question.open && !worker->awaited)
		deadline__renew(&worker->deadline, DEADLINE_MS);
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
	worker->in_flight = 0;
	told_list__restart(&worker->told);
	worker_question__restart(&worker->question, ++worker->last_number);
	note_progress(worker);
	renew_deadline(worker);
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
}

/* A child that was given up is a zombie once it ends, but not for long. */
static void reap_given_up(struct worker *worker)
{
	for (size_t i = 0; i < worker->avoided.nr; i++)
		if (worker->given_up[i] && waitpid(worker->given_up[i], NULL, WNOHANG))
			worker->given_up[i] = 0;
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

/* err: 0, or why the request cannot go on. */
static void end_request(struct worker *worker, int err)
{
	if (worker->question.open) {
		worker_question__close(&worker->question);
		worker->failure = err;
	}
	if (worker->awaited) {
		worker->awaited = 0;
		worker->awaited_result = err ? err : -ETIME;
	}
	renew_deadline(worker);
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
		end_request(worker, why);
	else if (why == -ETIME || worker->avoided.nr == AVOIDED_MAX)
		end_request(worker, 0);
	if (worker->question.open || worker->told.nr)
		err = start_child(worker);
	if (err)
		end_request(worker, err == -ECANCELED ? 0 : err);
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
	told_list__release(&worker->told);
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

/* The next message about a process. */
static int send_told(struct worker *worker, struct told *told)
{
	struct message message;
	bool whole = told__fill(told, worker->last_number + 1, &message);
	int err = send_message(worker, &message);

	if (err)
		return err;
	if (!worker->in_flight && !worker->question.open) {
		note_progress(worker);
		renew_deadline(worker);
	}
	if (!whole) {
		told->sent++;
		return 0;
	}
	told->request = ++worker->last_number;
	worker->in_flight++;
	return 0;
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

/*
 * The question comes behind some processes, see told_list__next(), but waits for no others:
 * there is no end to these.
 */
static int send_waiting(struct worker *worker)
{
	int err = 0;

	worker->congested = false;
	for (int sent = 0; sent < MESSAGES_AT_ONCE && !err; sent++) {
		bool ask = worker->question.open && !worker->question.sent;
		struct told *told = told_list__next(&worker->told, !ask);

		if (told && (told->kept || told->sent || worker->in_flight < TOLD_AT_ONCE))
			err = send_told(worker, told);
		else if (ask && !told)
			err = send_part(worker);
		else
			return 0;
	}
	worker->congested = true;
	return err == -EAGAIN ? 0 : err;
}

/* ---- from the child ---- */

static void take_remembered(struct worker *worker, const struct answer *answer)
{
	struct told *told = told_list__find_request(&worker->told, answer->number);

	if (worker->in_flight)
		worker->in_flight--;
	if (told && told->pid == worker->awaited) {
		worker->awaited_result = answer->result;
		worker->awaited = 0;
	}
	if (told)
		told_list__note_answer(&worker->told, told, answer->result, answer->start_time);
	renew_deadline(worker);
}

static int take_answer(struct worker *worker, const struct answer *answer, const char *string)
{
	struct worker_question *question = &worker->question;
	bool of_question = question->open && answer->number == question->number;

	if (answer->kind != ANSWER_LAST)
		return of_question ? worker_question__take(question, answer, string) : -EPROTO;
	if (!of_question) {
		take_remembered(worker, answer);
		return 0;
	}
	worker->unanswered += answer->exhausted != 0;
	if (answer->result)
		return answer->result < 0 ? answer->result : -EPROTO;
	worker_question__close(question);
	renew_deadline(worker);
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

/* Send at once; what the socket does not take, by and by. */
static void send_soon(struct worker *worker, struct told *told)
{
	int err = 0;

	for (int sent = 0; sent < MESSAGES_AT_ONCE && !told->request && !err; sent++)
		err = send_told(worker, told_list__first(&worker->told, told));
	worker->congested |= !told->request;
}

int worker__start(struct worker *worker)
{
	return worker->pid ? 0 : start_child(worker);
}

int worker__remember_soon(struct worker *worker, pid_t pid, const struct sym_image *image)
{
	struct told *told = told_list__add(&worker->told, pid, false, image);
	int err;

	if (!told)
		return -ENOMEM;
	err = worker->pid ? 0 : start_child(worker);
	if (err)
		return err;
	send_soon(worker, told);
	return 0;
}

int worker__remember(struct worker *worker, pid_t pid)
{
	int err;

	if (!told_list__add(&worker->told, pid, true, NULL))
		return -ENOMEM;
	err = worker->pid ? 0 : start_child(worker);
	if (err)
		return err;
	renew_deadline(worker);
	worker->awaited = pid;
	for (advance(worker); worker->awaited; advance(worker))
		wait_for_child(worker);
	return worker->awaited_result;
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
	renew_deadline(worker);
	err = worker_question__open(&worker->question, queries, nr, names);
	if (err)
		return err;
	told_list__note_question(&worker->told, queries, nr);
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
