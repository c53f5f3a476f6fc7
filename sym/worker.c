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
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/util/arena.h"
#include "core/util/array.h"
#include "core/util/cleanup.h"
#include "sym/elf_symbols.h"
#include "sym/process.h"
#include "sym/sym.h"
#include "sym/user_namer.h"

/*
 * How long a request may take in all, how long the child may wait without any
 * progress for what has no device of its own (a file system in user space for
 * one) or for the mappings of a process, and how often the parent looks. A disk
 * may use all the time there is: no user can make a block device hang.
 */
#define DEADLINE_MS 10000
#define PATIENCE_MS 1000
#define LOOK_MS	    50

/* What a child can make its parent allocate: far above the names of any real profile. */
#define STRINGS_BYTES_MAX ((size_t)32 * 1024 * 1024)
#define STRING_LENGTH_MAX 4096

struct worker {
	pid_t pid; /* of the child; 0: none is running */
	int socket;
	struct progress *progress; /* shared with the child */
	struct avoid_list avoided;
	bool demangles;
	pid_t *remembered; /* every child is told of these */
	size_t nr_remembered, remembered_capacity;
	size_t told; /* how many of them the child that runs knows */
	size_t unanswered;
	struct timespec deadline; /* of the request that is under way */
};

/* The child is a copy of the parent: both sides know these structs as they are. */
enum request_kind { REQUEST_REMEMBER, REQUEST_NAME };

struct request {
	enum request_kind kind;
	pid_t pid;   /* of REQUEST_REMEMBER */
	uint64_t nr; /* of REQUEST_NAME: so many struct question follow */
};

struct question {
	uint64_t index; /* comes back with the answer */
	uint64_t address;
	pid_t pid;
	uint32_t return_address;
};

/*
 * The child sends one for each query as soon as there is something to say about
 * it, and the last one with ANSWER_LAST. name and module: 0 for none, else the
 * length of the string that follows, and 1.
 */
struct answer {
	uint64_t index;
	uint64_t offset, module_offset;
	uint32_t name, module;
	int32_t result;	    /* of ANSWER_LAST: 0 or a negative errno */
	uint32_t exhausted; /* of ANSWER_LAST: the files asked for more work than they may */
};

#define ANSWER_LAST UINT64_MAX

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

struct answering {
	FILE *out;
	const struct question *questions;
	const struct sym_query *queries;
};

static uint32_t string_field(const char *text)
{
	return text ? (uint32_t)strnlen(text, STRING_LENGTH_MAX - 1) + 1 : 0;
}

/* Of struct user_namer_caller. That the parent has gone shows at the next request. */
static void send_answer(void *context, const struct sym_query *query)
{
	struct answering *answering = context;
	struct answer answer = {
		.index = answering->questions[query - answering->queries].index,
		.offset = query->offset,
		.module_offset = query->module_offset,
		.name = string_field(query->name),
		.module = string_field(query->module),
	};

	fwrite(&answer, sizeof(answer), 1, answering->out);
	if (answer.name)
		fwrite(query->name, answer.name - 1, 1, answering->out);
	if (answer.module)
		fwrite(query->module, answer.module - 1, 1, answering->out);
}

/* Of struct user_namer_caller. */
static void go_on(void *context)
{
	(void)context;
}

static int serve_name(struct user_namer *namer, FILE *out, int socket, uint64_t nr)
{
	CLEANUP_FREE struct question *questions = calloc(nr + 1, sizeof(*questions));
	CLEANUP_FREE struct sym_query *queries = calloc(nr + 1, sizeof(*queries));
	struct answering answering = {.out = out, .questions = questions, .queries = queries};
	const struct user_namer_caller caller = {
		.context = &answering, .emit = send_answer, .pause = go_on};

	if (!questions || !queries || !read_all(socket, questions, nr * sizeof(*questions)))
		_exit(1);
	for (uint64_t i = 0; i < nr; i++)
		queries[i] = (struct sym_query){
			.pid = questions[i].pid,
			.address = questions[i].address,
			.return_address = questions[i].return_address,
		};
	return user_namer__name(namer, queries, nr, &caller);
}

/* False at the end of the parent. */
static bool serve(struct user_namer *namer, struct progress *progress, FILE *out, int socket)
{
	struct answer last = {.index = ANSWER_LAST};
	struct request request;
	uint64_t start_time = 0;

	if (!read_all(socket, &request, sizeof(request)))
		return false;
	progress->work = ELF_SYMBOLS_WORK;
	progress->left_out = false;
	if (request.kind == REQUEST_NAME)
		last.result = serve_name(namer, out, socket, request.nr);
	else
		last.result = user_namer__remember(namer, request.pid, true, &start_time);
	last.exhausted = progress->work == 0 || progress->left_out;
	fwrite(&last, sizeof(last), 1, out);
	return fflush(out) == 0;
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
 * live on in a child that cannot be killed.
 */
static _Noreturn void run_child(const struct worker *worker, int socket)
{
	struct user_namer *namer;
	struct arena names = {0};
	FILE *out;

	/* Ctrl-C is for the parent; without it, this ends. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* stderr, too: a child that never ends would keep a pipe behind it open. */
	if (dup2(socket, 0) < 0 || close_from(1))
		_exit(1);
	out = fdopen(0, "r+");
	if (!out ||
	    user_namer__new(&namer, &names, &worker->avoided, worker->progress, worker->demangles))
		_exit(1);
	/* The names have been sent. */
	while (serve(namer, worker->progress, out, 0))
		arena__release(&names);
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
	worker->told = 0;
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

/*
 * Not waited for: it may never end; as long as we live it is a zombie at most.
 * What it was touching is avoided from now on: the whole file system, if that
 * did not answer and is none on a disk, else the process.
 */
static void give_up_child(struct worker *worker, int err)
{
	struct avoid_list *avoided = &worker->avoided;
	bool silent = err == -ETIMEDOUT && major(worker->progress->device) == 0;

	close(worker->socket);
	kill(worker->pid, SIGKILL);
	waitpid(worker->pid, NULL, WNOHANG);
	worker->pid = 0;
	worker->unanswered++;
	if (avoided->nr == AVOIDED_MAX)
		return;
	avoided->items[avoided->nr].pid = worker->progress->pid;
	avoided->items[avoided->nr].device = silent ? worker->progress->device : 0;
	avoided->items[avoided->nr].jit = worker->progress->jit;
	avoided->nr++;
}

int worker__new(struct worker **out, bool demangles)
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
	worker->demangles = demangles;
	*out = worker;
	return 0;
}

void worker__free(struct worker *worker)
{
	if (!worker)
		return;
	stop_child(worker);
	munmap(worker->progress, sizeof(*worker->progress));
	free(worker->remembered);
	free(worker);
}

/* Whether the child is running, or would if there were a CPU for it. */
static bool is_runnable(pid_t pid)
{
	uint64_t start_time;
	char state;

	return process__read_stat(pid, &state, &start_time) == 0 && state == 'R';
}

static void set_deadline(struct worker *worker)
{
	clock_gettime(CLOCK_MONOTONIC, &worker->deadline);
	worker->deadline.tv_sec += DEADLINE_MS / 1000;
}

static bool is_overdue(const struct worker *worker)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > worker->deadline.tv_sec ||
	       (now.tv_sec == worker->deadline.tv_sec && now.tv_nsec > worker->deadline.tv_nsec);
}

/*
 * Wait until the socket is ready for events. 0, -ETIMEDOUT if the child waits
 * for what does not answer, -ETIME at the deadline, or another negative errno.
 */
static int await(const struct worker *worker, short events)
{
	const volatile struct progress *progress = worker->progress;
	uint64_t steps = progress->steps, work = progress->work;
	int waited = 0;

	while (!is_overdue(worker)) {
		struct pollfd socket = {.fd = worker->socket, .events = events};
		int ready = poll(&socket, 1, LOOK_MS);

		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (progress->steps != steps || progress->work != work)
			waited = 0;
		else if (!is_runnable(worker->pid))
			waited += LOOK_MS;
		if (waited >= PATIENCE_MS && major(progress->device) == 0)
			return -ETIMEDOUT;
		steps = progress->steps;
		work = progress->work;
	}
	return -ETIME;
}

/* All of size bytes, as await(). */
static int send_all(const struct worker *worker, const void *buffer, size_t size)
{
	for (size_t done = 0; done < size;) {
		int err = await(worker, POLLOUT);
		ssize_t put;

		if (err)
			return err;
		put = send(worker->socket, (const char *)buffer + done, size - done,
			   MSG_DONTWAIT | MSG_NOSIGNAL);
		if (put < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		done += put > 0 ? (size_t)put : 0;
	}
	return 0;
}

/* What has come from the child and is not yet used. */
struct inbox {
	const struct worker *worker;
	char bytes[32 * 1024];
	size_t used, filled;
	size_t strings; /* bytes of all strings so far */
};

/* The next size bytes; as await(), -EPIPE if the child has ended. */
static int receive(struct inbox *inbox, void *buffer, size_t size)
{
	for (size_t done = 0; done < size;) {
		size_t piece = inbox->filled - inbox->used;

		if (piece == 0) {
			int err = await(inbox->worker, POLLIN);
			ssize_t got;

			if (err)
				return err;
			got = recv(inbox->worker->socket, inbox->bytes, sizeof(inbox->bytes),
				   MSG_DONTWAIT);
			if (got < 0 && errno != EAGAIN && errno != EINTR)
				return -errno;
			if (got == 0)
				return -EPIPE;
			inbox->used = 0;
			inbox->filled = got > 0 ? (size_t)got : 0;
			continue;
		}
		if (piece > size - done)
			piece = size - done;
		memcpy((char *)buffer + done, inbox->bytes + inbox->used, piece);
		inbox->used += piece;
		done += piece;
	}
	return 0;
}

/*
 * The string of a field of struct answer. Neighbours often have the same, so
 * one that is equal to previous is not kept again.
 */
static int receive_string(struct inbox *inbox, uint32_t field, const char *previous,
			  struct arena *names, const char **string)
{
	char text[STRING_LENGTH_MAX];
	size_t length = field - 1;
	int err;

	*string = NULL;
	if (field == 0)
		return 0;
	if (field > STRING_LENGTH_MAX)
		return -EPROTO;
	err = receive(inbox, text, length);
	if (err)
		return err;
	text[length] = '\0';
	if (previous && !strcmp(previous, text)) {
		*string = previous;
		return 0;
	}
	inbox->strings += length;
	if (inbox->strings > STRINGS_BYTES_MAX)
		return 0;
	*string = arena__copy_string(names, text, length);
	return *string ? 0 : -ENOMEM;
}

/* Until the last answer, whose result is returned: 0 or a negative errno. */
static int receive_answers(struct worker *worker, struct sym_query *queries, size_t nr,
			   bool *answered, struct arena *names)
{
	CLEANUP_FREE struct inbox *inbox = calloc(1, sizeof(*inbox));
	const char *name = NULL, *module = NULL;

	if (!inbox)
		return -ENOMEM;
	inbox->worker = worker;
	for (;;) {
		struct answer answer;
		int err = receive(inbox, &answer, sizeof(answer));

		if (!err && answer.index == ANSWER_LAST) {
			worker->unanswered += answer.exhausted;
			return answer.result;
		}
		if (!err && answer.index >= nr)
			err = -EPROTO;
		if (!err)
			err = receive_string(inbox, answer.name, name, names, &name);
		if (!err)
			err = receive_string(inbox, answer.module, module, names, &module);
		if (err)
			return err;
		queries[answer.index].offset = answer.offset;
		queries[answer.index].module_offset = answer.module_offset;
		queries[answer.index].name = name;
		queries[answer.index].module = module;
		answered[answer.index] = true;
	}
}

/* As symbolizer__remember(), of the child that is running; or why that is to be given up. */
static int ask_to_remember(struct worker *worker, pid_t pid)
{
	const struct request request = {.kind = REQUEST_REMEMBER, .pid = pid};
	int err = send_all(worker, &request, sizeof(request));

	return err ? err : receive_answers(worker, NULL, 0, NULL, NULL);
}

static bool must_be_given_up(int err)
{
	return err == -ETIMEDOUT || err == -ETIME || err == -EPIPE || err == -EPROTO;
}

/*
 * Have a child that remembers what it should. One that has to be given up while it
 * reads a process takes along what it knew: the next one is told again, and can
 * read of the others what has not ended. *result: what became of the last of them.
 * Returns a negative errno if there can be no child; 0 without one if there should
 * be no further.
 */
static int prepare_child(struct worker *worker, int *result)
{
	int err = worker->pid ? 0 : start_child(worker);

	while (!err && worker->told < worker->nr_remembered) {
		*result = ask_to_remember(worker, worker->remembered[worker->told]);
		if (must_be_given_up(*result)) {
			give_up_child(worker, *result);
			if (worker->avoided.nr == AVOIDED_MAX || is_overdue(worker))
				return 0;
			err = start_child(worker);
		} else {
			worker->told++;
		}
	}
	return err;
}

int worker__remember(struct worker *worker, pid_t pid)
{
	int result = 0, err;

	if (ARRAY_GROW(worker->remembered, worker->nr_remembered, worker->remembered_capacity))
		return -ENOMEM;
	worker->remembered[worker->nr_remembered++] = pid;
	set_deadline(worker);
	err = prepare_child(worker, &result);
	return err ? err : result;
}

/* Ask the child that is running for what has not been answered yet. */
static int ask_child(struct worker *worker, struct sym_query *queries, size_t nr, bool *answered,
		     struct arena *names)
{
	CLEANUP_FREE struct question *questions = calloc(nr, sizeof(*questions));
	struct request request = {.kind = REQUEST_NAME};
	int err;

	if (!questions)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (!answered[i])
			questions[request.nr++] = (struct question){
				.index = i,
				.address = queries[i].address,
				.pid = queries[i].pid,
				.return_address = queries[i].return_address,
			};
	err = send_all(worker, &request, sizeof(request));
	if (!err)
		err = send_all(worker, questions, request.nr * sizeof(*questions));
	return err ? err : receive_answers(worker, queries, nr, answered, names);
}

/*
 * A new child goes on after each one that has to be given up, with what is left
 * to answer, as long as there is time and room for one more thing to avoid.
 */
int worker__name(struct worker *worker, struct sym_query *queries, size_t nr, struct arena *names)
{
	CLEANUP_FREE bool *answered = calloc(nr + 1, sizeof(*answered));
	int err = 0, ignored;

	if (!answered)
		return -ENOMEM;
	set_deadline(worker);
	while (nr && worker->avoided.nr < AVOIDED_MAX && !is_overdue(worker)) {
		err = prepare_child(worker, &ignored);
		if (err)
			return err;
		if (!worker->pid)
			break;
		err = ask_child(worker, queries, nr, answered, names);
		if (!err)
			return 0;
		give_up_child(worker, err);
		if (err == -ENOMEM)
			return err;
	}
	return 0; /* what has no name by now has none; worker__unanswered() says so */
}

size_t worker__unanswered(const struct worker *worker)
{
	return worker->unanswered;
}
