// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/arena.h"
#include "core/util/cleanup.h"
#include "sym/elf_symbols.h"
#include "sym/sym.h"
#include "sym/user_namer.h"

/* How long there may be no progress, and how often the parent looks. */
#define PATIENCE_MS 1000
#define LOOK_MS	    50

/* Far above the names of any real profile: what a child can make its parent allocate. */
#define REPLY_MAX ((uint64_t)256 * 1024 * 1024)

struct worker {
	pid_t pid; /* of the child; 0: none is running */
	int socket;
	struct progress *progress; /* shared with the child */
	struct avoid_list avoided;
};

/* The child is a copy of the parent: both sides know these structs as they are. */
enum request_kind { REQUEST_REMEMBER, REQUEST_NAME };

struct request {
	enum request_kind kind;
	pid_t pid;   /* of REQUEST_REMEMBER */
	uint64_t nr; /* of REQUEST_NAME: so many struct question follow */
};

struct question {
	uint64_t address;
	pid_t pid;
	uint32_t return_address;
};

/* Behind it, size bytes: an answer for each question, then their strings. */
struct reply {
	int64_t result;
	uint64_t size;
};

/* Strings are offsets into what follows the reply; 0: none. */
struct answer {
	uint64_t offset, module_offset;
	uint64_t name, module;
};

/* ---- the child ---- */

/* All of size bytes, or false at the end of the parent. */
static bool read_all(int fd, void *buffer, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = read(fd, (char *)buffer + done, size - done);

		if (got <= 0 && !(got < 0 && errno == EINTR))
			return false;
		done += got > 0 ? (size_t)got : 0;
	}
	return true;
}

static bool write_all(int fd, const void *buffer, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t put = send(fd, (const char *)buffer + done, size - done, MSG_NOSIGNAL);

		if (put <= 0 && !(put < 0 && errno == EINTR))
			return false;
		done += put > 0 ? (size_t)put : 0;
	}
	return true;
}

/* Append text to the strings, and return its offset from start. */
static uint64_t put_string(FILE *strings, size_t start, const char *text)
{
	uint64_t offset = start + (uint64_t)ftell(strings);

	if (!text)
		return 0;
	fwrite(text, strlen(text) + 1, 1, strings);
	return offset;
}

static bool send_answers(int socket, const struct sym_query *queries, size_t nr)
{
	CLEANUP_FREE struct answer *answers = calloc(nr + 1, sizeof(*answers));
	CLEANUP_FREE char *text = NULL;
	size_t text_size = 0;
	FILE *strings = open_memstream(&text, &text_size);
	struct reply reply = {0};

	if (!answers || !strings)
		return false;
	for (size_t i = 0; i < nr; i++) {
		answers[i] = (struct answer){
			.offset = queries[i].offset,
			.module_offset = queries[i].module_offset,
			.name = put_string(strings, nr * sizeof(*answers), queries[i].name),
			.module = put_string(strings, nr * sizeof(*answers), queries[i].module),
		};
	}
	fputc('\0', strings);
	if (fclose(strings))
		return false;
	reply.size = nr * sizeof(*answers) + text_size;
	return write_all(socket, &reply, sizeof(reply)) &&
	       write_all(socket, answers, nr * sizeof(*answers)) &&
	       write_all(socket, text, text_size);
}

static bool serve_name(struct user_namer *namer, int socket, uint64_t nr)
{
	CLEANUP_FREE struct question *questions = calloc(nr + 1, sizeof(*questions));
	CLEANUP_FREE struct sym_query *queries = calloc(nr + 1, sizeof(*queries));
	struct reply failed = {0};

	if (!questions || !queries || !read_all(socket, questions, nr * sizeof(*questions)))
		return false;
	for (uint64_t i = 0; i < nr; i++)
		queries[i] = (struct sym_query){
			.pid = questions[i].pid,
			.address = questions[i].address,
			.return_address = questions[i].return_address,
		};
	failed.result = user_namer__name(namer, queries, nr);
	if (failed.result)
		return write_all(socket, &failed, sizeof(failed));
	return send_answers(socket, queries, nr);
}

static bool serve(struct user_namer *namer, struct progress *progress, int socket)
{
	struct request request;
	struct reply reply = {0};

	if (!read_all(socket, &request, sizeof(request)))
		return false;
	progress->work = ELF_SYMBOLS_WORK;
	if (request.kind == REQUEST_NAME)
		return serve_name(namer, socket, request.nr);
	reply.result = user_namer__remember(namer, request.pid);
	return write_all(socket, &reply, sizeof(reply));
}

/* 0, or -1 where neither way of closing all descriptors from first on works. */
static int close_from(unsigned int first)
{
	struct rlimit limit;

	if (syscall(SYS_close_range, first, ~0U, 0) == 0) /* 5.9+ */
		return 0;
	/* A container's seccomp profile can be older than that. */
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return -1;
	for (rlim_t fd = first; fd < limit.rlim_cur; fd++)
		close((int)fd);
	return 0;
}

/*
 * Whatever the parent had open, BPF programs and perf events among it, must not
 * live on in a child that cannot be killed. The names are never freed: they
 * are as long-lived as the child.
 */
static _Noreturn void run_child(const struct worker *worker, int socket)
{
	struct user_namer *namer;
	struct arena names = {0};

	/* Ctrl-C is for the parent; without it, this ends. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* stderr, too: a child that never ends would keep a pipe behind it open. */
	if (dup2(socket, 0) < 0 || close_from(1))
		_exit(1);
	if (user_namer__new(&namer, &names, &worker->avoided, worker->progress))
		_exit(1);
	while (serve(namer, worker->progress, 0))
		;
	_exit(0);
}

/* ---- the parent ---- */

static int start_child(struct worker *worker)
{
	int sockets[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	pid = fork();
	if (pid == 0)
		run_child(worker, sockets[1]);
	close(sockets[1]);
	if (pid < 0) {
		int err = -errno;

		close(sockets[0]);
		return err;
	}
	worker->pid = pid;
	worker->socket = sockets[0];
	return 0;
}

/* A child that does nothing ends when its socket does, and is waited for. */
static void stop_child(struct worker *worker)
{
	if (worker->pid <= 0)
		return;
	close(worker->socket);
	waitpid(worker->pid, NULL, 0);
	worker->pid = 0;
}

/* Not waited for: it may never end. As long as we live it is a zombie at most. */
static void give_up_child(struct worker *worker)
{
	struct avoid_list *avoided = &worker->avoided;

	close(worker->socket);
	kill(worker->pid, SIGKILL);
	waitpid(worker->pid, NULL, WNOHANG);
	worker->pid = 0;
	avoided->items[avoided->nr].pid = worker->progress->pid;
	avoided->items[avoided->nr].device = worker->progress->device;
	avoided->nr++;
}

int worker__new(struct worker **out)
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
	*out = worker;
	return 0;
}

void worker__free(struct worker *worker)
{
	if (!worker)
		return;
	stop_child(worker);
	munmap(worker->progress, sizeof(*worker->progress));
	free(worker);
}

/*
 * Wait until the socket is ready for events. 0, -ETIMEDOUT if the child has
 * stopped getting on, or another negative errno.
 */
static int await(const struct worker *worker, short events)
{
	const struct progress *progress = worker->progress;
	uint64_t steps = progress->steps, work = progress->work;

	for (int waited = 0; waited < PATIENCE_MS; waited += LOOK_MS) {
		struct pollfd socket = {.fd = worker->socket, .events = events};
		int ready = poll(&socket, 1, LOOK_MS);

		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (progress->steps != steps || *(volatile const uint64_t *)&progress->work != work)
			waited = -LOOK_MS;
		steps = progress->steps;
		work = progress->work;
	}
	return -ETIMEDOUT;
}

/* Send (or receive) all of size bytes. As await(); -EPIPE if the child has ended. */
static int transfer(const struct worker *worker, void *buffer, size_t size, short direction)
{
	for (size_t done = 0; done < size;) {
		char *rest = (char *)buffer + done;
		ssize_t moved;
		int err = await(worker, direction);

		if (err)
			return err;
		if (direction == POLLOUT)
			moved = send(worker->socket, rest, size - done,
				     MSG_DONTWAIT | MSG_NOSIGNAL);
		else
			moved = recv(worker->socket, rest, size - done, MSG_DONTWAIT);
		if (moved < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (moved == 0)
			return -EPIPE;
		done += moved > 0 ? (size_t)moved : 0;
	}
	return 0;
}

/* One request to the child that is running, and its reply; *body is in the arena. */
static int ask_child(const struct worker *worker, struct request *request,
		     struct question *questions, struct arena *names, struct reply *reply,
		     char **body)
{
	int err = transfer(worker, request, sizeof(*request), POLLOUT);

	if (!err && request->nr)
		err = transfer(worker, questions, request->nr * sizeof(*questions), POLLOUT);
	if (!err)
		err = transfer(worker, reply, sizeof(*reply), POLLIN);
	if (err || reply->size == 0)
		return err;
	if (reply->size > REPLY_MAX)
		return -EMSGSIZE;
	*body = arena__alloc(names, reply->size);
	if (!*body)
		return -ENOMEM;
	return transfer(worker, *body, reply->size, POLLIN);
}

/*
 * Ask, with a new child after each one that has to be given up, for a limited
 * number of times. Returns what the child returned, or why there was none.
 */
static int ask(struct worker *worker, struct request *request, struct question *questions,
	       struct arena *names, struct reply *reply, char **body)
{
	while (worker->avoided.nr < AVOIDED_MAX) {
		int err = worker->pid ? 0 : start_child(worker);

		if (err)
			return err;
		err = ask_child(worker, request, questions, names, reply, body);
		if (!err)
			return (int)reply->result;
		give_up_child(worker);
		if (err == -ENOMEM)
			return err;
	}
	return -ETIMEDOUT;
}

int worker__remember(struct worker *worker, pid_t pid)
{
	struct request request = {.kind = REQUEST_REMEMBER, .pid = pid};
	struct reply reply;

	return ask(worker, &request, NULL, NULL, &reply, NULL);
}

/* A string of a reply; NULL if there is none, or it does not lie in the body. */
static const char *get_string(const char *body, uint64_t size, uint64_t offset)
{
	return offset && offset < size ? body + offset : NULL;
}

static int take_answers(struct sym_query *queries, size_t nr, const char *body, uint64_t size)
{
	const struct answer *answers = (const struct answer *)body;

	/* The NUL at its end ends every string. */
	if (size <= nr * sizeof(*answers) || body[size - 1] != '\0')
		return -EPROTO;
	for (size_t i = 0; i < nr; i++) {
		queries[i].offset = answers[i].offset;
		queries[i].module_offset = answers[i].module_offset;
		queries[i].name = get_string(body, size, answers[i].name);
		queries[i].module = get_string(body, size, answers[i].module);
	}
	return 0;
}

int worker__name(struct worker *worker, struct sym_query *queries, size_t nr, struct arena *names)
{
	CLEANUP_FREE struct question *questions = calloc(nr + 1, sizeof(*questions));
	struct request request = {.kind = REQUEST_NAME, .nr = nr};
	struct reply reply = {0};
	char *body = NULL;
	int err;

	if (!questions)
		return -ENOMEM;
	if (nr == 0)
		return 0;
	for (size_t i = 0; i < nr; i++)
		questions[i] = (struct question){
			.address = queries[i].address,
			.pid = queries[i].pid,
			.return_address = queries[i].return_address,
		};
	err = ask(worker, &request, questions, names, &reply, &body);
	return err ? err : take_answers(queries, nr, body, reply.size);
}

size_t worker__unanswered(const struct worker *worker)
{
	return worker->avoided.nr;
}
