// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/worker/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sym/address/user_namer.h"
#include "sym/elf/symbols.h"
#include "sym/types.h"
#include "sym/util/arena.h"
#include "sym/util/array.h"
#include "sym/util/child.h"
#include "sym/util/cleanup.h"
#include "sym/util/descriptors.h"
#include "sym/util/pointer_map.h"
#include "sym/worker/protocol.h"

/* The files of the question that is open, as far as they have come. */
struct incoming {
	struct sym_mapped_file *files;
	size_t nr, capacity;
	struct arena paths;
};

struct child {
	int socket;
	int files; /* where files come that are to be held; or -1 */
	FILE *out; /* the same socket */
	struct user_namer *namer;
	struct progress *progress;
	struct incoming incoming;
	/* The question itself. */
	struct question *questions;
	size_t nr, capacity;
	const struct sym_query *queries; /* while it is answered */
	uint64_t number;
	struct pointer_map strings; /* that have been sent in answers to it, to their numbers */
	uint32_t nr_strings;
	size_t string_bytes, inlined_bytes; /* see STRING_BYTES_MAX */
};

static void hold_files(struct child *child)
{
	if (child->files >= 0 && user_namer__hold_passed(child->namer, child->files))
		child->files = -1;
}

/* If the child is given up from now on, nothing is to blame. */
static void touch_nothing(struct progress *progress)
{
	progress->pid = 0;
	progress->device = 0;
	progress->jit = false;
	progress->debug = false;
}

/* Until there is a message. All files that came before it are held. */
static void await_message(struct child *child)
{
	struct pollfd polled[] = {{.fd = child->socket, .events = POLLIN}, {.events = POLLIN}};

	do {
		polled[1].fd = child->files;
		if (poll(polled, ARRAY_SIZE(polled), -1) > 0 && polled[1].revents) {
			hold_files(child);
			touch_nothing(child->progress);
		}
	} while (!polled[0].revents);
}

/* Does not return at the end of the parent. */
static void receive(const struct child *child, struct message *message)
{
	ssize_t got;

	do
		got = recv(child->socket, message, sizeof(*message), 0);
	while (got < 0 && errno == EINTR);
	if (got < (ssize_t)offsetof(struct message, questions))
		_exit(0);
}

/* If the parent has gone, the next request shows it. */
static void send_answer(struct child *child, struct answer answer)
{
	answer.number = child->number;
	fwrite(&answer, sizeof(answer), 1, child->out);
}

/* True if the parent has room for so much more. If not, it is told at last. */
static bool use(struct child *child, size_t *used, size_t size, size_t max)
{
	if (*used + size > max) {
		child->progress->left_out = true;
		return false;
	}
	*used += size;
	return true;
}

/* The number of a string, which is sent if it has not been; 0 if there is no room for it. */
static uint32_t send_string(struct child *child, const char *text)
{
	struct answer answer = {.kind = ANSWER_STRING};
	uintptr_t *number;

	if (!text)
		return 0;
	number = pointer_map__at(&child->strings, text);
	if (!number)
		_exit(1);
	if (!*number) {
		answer.length = (uint32_t)strnlen(text, STRING_LENGTH_MAX);
		if (!use(child, &child->string_bytes, answer.length + 1, STRING_BYTES_MAX))
			return 0;
		*number = ++child->nr_strings;
		send_answer(child, answer);
		fwrite(text, answer.length, 1, child->out);
	}
	return (uint32_t)*number;
}

static void send_inlined(struct child *child, const struct sym_inlined *inlined)
{
	size_t before = child->string_bytes;
	const struct answer answer = {
		.kind = ANSWER_INLINED,
		.name = send_string(child, inlined->name),
		.symbol = send_string(child, inlined->symbol),
		.file = send_string(child, inlined->source.file),
		.line = inlined->source.line,
	};

	child->inlined_bytes += child->string_bytes - before;
	send_answer(child, answer);
}

/* Send all, or none if the parent has no room for them. */
static void send_all_inlined(struct child *child, const struct sym_query *query)
{
	uint32_t nr = query->nr_inlined < INLINED_MAX ? query->nr_inlined : INLINED_MAX;

	if (!nr ||
	    !use(child, &child->inlined_bytes, nr * sizeof(*query->inlined), INLINED_BYTES_MAX))
		return;
	for (uint32_t i = 0; i < nr; i++)
		send_inlined(child, &query->inlined[i]);
}

/* emit() of struct user_namer_caller. */
static void send_query(void *context, const struct sym_query *query)
{
	struct child *child = context;
	const struct answer answer = {
		.kind = ANSWER_QUERY,
		.index = child->questions[query - child->queries].index,
		.offset = query->offset,
		.module_offset = query->module_offset,
		.function_start = query->function_start,
		.file_offset = query->file_offset,
		.name = send_string(child, query->name),
		.symbol = send_string(child, query->symbol),
		.module = send_string(child, query->module),
		.path = send_string(child, query->path),
		.build_id = send_string(child, query->build_id),
		.file = send_string(child, query->source.file),
		.line = query->source.line,
		.generated = query->generated,
		.origin = query->origin,
	};

	send_all_inlined(child, query);
	send_answer(child, answer);
}

static void take_file(struct incoming *incoming, const struct sent_file *sent)
{
	const char *path = arena__copy_string(&incoming->paths, sent->path, strlen(sent->path));

	if (!path || ARRAY_GROW(incoming->files, incoming->nr, incoming->capacity))
		_exit(1);
	incoming->files[incoming->nr++] =
		(struct sym_mapped_file){.id = sent->id, .pid = sent->pid, .path = path};
}

/* pause() of struct user_namer_caller: while a question is open, more files can come. */
static void pause_to_hold(void *context)
{
	hold_files(context);
}

static struct sym_query query_of(const struct child *child, const struct question *question)
{
	const struct incoming *incoming = &child->incoming;
	bool has_file = question->file && question->file <= incoming->nr;

	return (struct sym_query){
		.pid = question->pid,
		.program = question->program,
		.address = question->address,
		.return_address = question->return_address,
		.in_file = question->in_file,
		.file = has_file ? &incoming->files[question->file - 1] : NULL,
	};
}

static int answer_question(struct child *child)
{
	const struct user_namer_caller caller = {
		.context = child, .emit = send_query, .pause = pause_to_hold};
	CLEANUP_FREE struct sym_query *queries = calloc(child->nr + 1, sizeof(*queries));

	if (!queries)
		_exit(1);
	for (size_t i = 0; i < child->nr; i++)
		queries[i] = query_of(child, &child->questions[i]);
	child->queries = queries;
	return user_namer__name(child->namer, queries, child->nr, &caller);
}

static void serve_name(struct child *child, const struct message *message)
{
	struct answer last = {.kind = ANSWER_LAST, .number = message->request.number};

	for (uint32_t i = 0; i < message->request.nr; i++) {
		if (ARRAY_GROW(child->questions, child->nr, child->capacity))
			_exit(1);
		child->questions[child->nr++] = message->questions[i];
	}
	if (message->request.left)
		return;
	child->number = message->request.number;
	child->progress->work = ELF_SYMBOLS_WORK;
	child->progress->left_out = false;
	last.result = answer_question(child);
	last.exhausted = child->progress->work == 0 || child->progress->left_out;
	child->nr = child->incoming.nr = 0;
	arena__release(&child->incoming.paths);
	pointer_map__release(&child->strings);
	child->nr_strings = 0;
	child->string_bytes = child->inlined_bytes = 0;
	fwrite(&last, sizeof(last), 1, child->out);
}

const struct child_role worker_child_role = {"naming worker", DEBUG_LOG_NAMES};

/*
 * Whatever the parent had open, BPF programs and perf events among it, must not
 * live on in a child that cannot be killed.
 */
_Noreturn void worker_child__run(int socket, const struct avoid_list *avoided,
				 struct progress *progress, const struct sym_settings *settings)
{
	static char answers[ANSWERS_SIZE];
	const int kept[] = {socket, settings->passed_files};
	struct child child = {.progress = progress, .files = settings->passed_files ? 1 : -1};
	struct arena names = {0};
	struct message message;

	child__begin(&worker_child_role);
	signal(SIGCHLD, SIG_DFL); /* it has children of its own, and waits for them */
	/* stderr, too, but for TRACEKIT_DEBUG: a child that never ends would keep a pipe behind it
	 * open. */
	if (descriptors__keep(kept, settings->passed_files ? 2 : 1))
		_exit(1);
	/* The readers of debug data are not to be believed, and need not see it. */
	(void)madvise(progress, sizeof(*progress), MADV_DONTFORK);
	child.out = fdopen(0, "w");
	if (!child.out || setvbuf(child.out, answers, _IOFBF, sizeof(answers)) ||
	    user_namer__new(&child.namer, &names, avoided, progress, settings))
		_exit(1);
	for (;;) {
		await_message(&child);
		receive(&child, &message);
		if (ferror(child.out))
			break;
		if (message.request.kind == REQUEST_FILE)
			take_file(&child.incoming, &message.file);
		else
			serve_name(&child, &message);
		touch_nothing(progress);
		fflush(child.out);
		arena__release(&names); /* they have been sent */
	}
	_exit(0);
}
