// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/dwarf/reader.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sym/child/deadline.h"
#include "sym/dwarf/image.h"
#include "sym/dwarf/protocol.h"
#include "sym/dwarf/reader_child.h"
#include "sym/elf/file.h"
#include "sym/util/array.h"
#include "sym/util/child.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/memory.h"
#include "sym/util/page.h"

/* Time for a question, in milliseconds: there are slow machines, and busy ones. */
#define BUDGET_MS	       1000
#define BUDGET_MS_PER_MB       20
#define BUDGET_MS_PER_THOUSAND 10
#define BUDGET_MS_MAX	       4000
#define TICK_MS		       50
#define TICK_NS		       (TICK_MS * (NANOSECONDS / 1000))
#define END_MS		       100
/* For all questions together. */
#define CPU_SECONDS 60
/*
 * The clock of RLIMIT_CPU, which counts ticks (posix_cpu_timers: CPUCLOCK_PROF): the clock of
 * clock_getcpuclockid() is more precise, and goes differently.
 */
#define LIMIT_CLOCK(pid) ((clockid_t)(~(unsigned int)(pid) << 3))
/*
 * Shares of the memory that is available when a reader starts: for its images, and for all that it
 * may map: indices of units, those of the largest unit, files of split units.
 */
#define IMAGES_SHARE 4
#define MEMORY_SHARE 2
#define MEMORY_SLACK ((uint64_t)1024 * 1024 * 1024)
/* If the kernel does not say. */
/* Most bytes that one file may have us keep. */
#define STRINGS_MAX ((size_t)256 * 1024 * 1024)
/* For one question: so many bytes of frames, or, if that is more, frames of each address. */
#define FRAMES_SIZE_MAX	   ((size_t)64 * 1024 * 1024)
#define FRAMES_PER_ADDRESS 8
#define INBOX_SIZE	   ((size_t)256 * 1024)
#define MB		   ((uint64_t)1024 * 1024)

struct debug_reader {
	struct debug_reader_caller caller;
	pid_t child;
	int socket;
	bool has_failed;
	uint64_t image_size, memory;
	uint64_t to_read;	 /* bytes that a question may have it read, for its time */
	uint64_t inherited, own; /* bytes that the child shared at its start, and has more by now */
	size_t files, missing;
	struct arena arena;
	const char **strings; /* by their number, less 1 */
	size_t nr_strings, strings_capacity, strings_size;
	unsigned char *inbox; /* bytes that are not yet a whole reply */
	size_t received;
};

/* A question that is open. */
struct question {
	struct debug_reader *reader;
	struct debug_chain *chains;
	size_t nr;
	struct arena *arena;
	unsigned char *out; /* to be sent */
	size_t out_size, sent;
	size_t nr_frames, nr_frames_max;
	bool is_done, is_cut;
	int result;
};

/* Memory without files, in bytes; 0 if the kernel does not say. */
static uint64_t resident_memory(pid_t pid)
{
	unsigned long long resident, shared;
	CLEANUP_FCLOSE FILE *file = NULL;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%*u %llu %llu", &resident, &shared) != 2 || resident < shared)
		return 0;
	return (resident - shared) * page_size();
}

static uint64_t memory_limit(uint64_t images, uint64_t available)
{
	uint64_t wanted = 3 * images + MEMORY_SLACK, share = available / MEMORY_SHARE;

	return wanted < share ? wanted : share;
}

static uint64_t size_of(const struct elf_file *package)
{
	struct stat st;

	return package && elf_file__stat(package, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void start_child(struct debug_reader *reader, const struct debug_reader_job *job)
{
	reader->inherited = resident_memory(job->parent);
	reader->child = fork();
	if (reader->child == 0)
		debug_reader_child__run(job);
	child__note_start(&debug_reader_role, reader->child);
}

/* All of the job but its socket is filled in. */
static int start(struct debug_reader *reader, struct debug_reader_job *job)
{
	const struct timeval idle = {.tv_sec = DEBUG_READER_IDLE};
	int sockets[2], err = 0;

	reader->inbox = malloc(INBOX_SIZE);
	if (!reader->inbox)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	/* If we hang in a file that does not answer, nobody else ends the child. */
	(void)setsockopt(sockets[1], SOL_SOCKET, SO_RCVTIMEO, &idle, sizeof(idle));
	job->socket = sockets[1];
	start_child(reader, job);
	if (reader->child < 0)
		err = -errno;
	close(sockets[1]);
	reader->socket = sockets[0];
	return err;
}

int debug_reader__start(struct debug_reader **reader, const struct elf_file *elf,
			const struct elf_file *alternate, const struct elf_file *package,
			const struct debug_reader_caller *caller)
{
	uint64_t available = memory__available(), most = available / IMAGES_SHARE;
	struct debug_reader_job job = {.parent = getpid(), .package = package};
	struct debug_plan plan, alternate_plan;
	struct debug_reader *made;
	int err = debug_plan__make(&plan, elf, false);

	if (!err && plan.size > most)
		err = -EFBIG;
	if (err)
		return err;
	/* Without the other file most names are there all the same. */
	if (alternate && (debug_plan__make(&alternate_plan, alternate, false) ||
			  alternate_plan.size > most - plan.size))
		alternate = NULL;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->caller = *caller;
	if (!made->caller.cpu_seconds)
		made->caller.cpu_seconds = CPU_SECONDS;
	made->image_size = plan.size + (alternate ? alternate_plan.size : 0);
	made->memory = memory_limit(made->image_size, available);
	made->child = -1;
	made->socket = -1;
	job.plan = &plan;
	job.alternate = alternate ? &alternate_plan : NULL;
	job.memory = made->memory;
	job.cpu_seconds = made->caller.cpu_seconds;
	made->to_read = made->image_size + size_of(package);
	err = start(made, &job);
	if (err) {
		debug_reader__stop(made);
		return err;
	}
	*reader = made;
	return 0;
}

/* why: 0, or why it is given up. */
static void end_child(struct debug_reader *reader, int why)
{
	child__note_end(&debug_reader_role, reader->child, why);
	if (reader->socket >= 0)
		close(reader->socket);
	reader->socket = -1;
	if (reader->child >= 0 && deadline__kill(reader->child, END_MS))
		reader->child = -1;
}

pid_t debug_reader__stop(struct debug_reader *reader)
{
	pid_t child;

	if (!reader)
		return 0;
	if (!reader->has_failed)
		end_child(reader, 0);
	child = reader->child;
	arena__release(&reader->arena);
	free(reader->strings);
	free(reader->inbox);
	free(reader);
	return child < 0 ? 0 : child;
}

size_t debug_reader__nr_missing(const struct debug_reader *reader)
{
	return reader->missing;
}

uint64_t debug_reader__size(const struct debug_reader *reader)
{
	if (reader->has_failed)
		return 0;
	return (reader->own > reader->image_size ? reader->own : reader->image_size) +
	       reader->strings_size;
}

bool debug_reader__is_near_cpu_limit(const struct debug_reader *reader)
{
	struct timespec used;

	if (reader->has_failed || clock_gettime(LIMIT_CLOCK(reader->child), &used))
		return false;
	return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000 >=
	       (uint64_t)reader->caller.cpu_seconds * 1000 / 2;
}

/* Returns 0, -EPROTO or -ENOMEM, as the takers of the other replies. */
static int take_string(struct debug_reader *reader, const char *text, size_t length)
{
	char *copy;

	if (reader->strings_size + length > STRINGS_MAX)
		return -EPROTO;
	copy = arena__copy_string(&reader->arena, text, strnlen(text, length));
	if (!copy || ARRAY_GROW(reader->strings, reader->nr_strings, reader->strings_capacity))
		return -ENOMEM;
	reader->strings[reader->nr_strings++] = copy;
	/* Each costs a pointer and more, even an empty one. */
	reader->strings_size += length + 2 * sizeof(copy);
	return 0;
}

static const char *string_of(const struct debug_reader *reader, uint32_t number)
{
	return number && number <= reader->nr_strings ? reader->strings[number - 1] : NULL;
}

static int take_frames(struct question *question, const struct reply *reply,
		       const unsigned char *bytes)
{
	const struct debug_reader *reader = question->reader;
	struct debug_frame *frames;
	struct debug_chain *chain;

	if (reply->value >= question->nr || question->chains[reply->value].frames)
		return -EPROTO;
	/* Read on to the end of the answer, so that there may be a next one. */
	if (reply->nr > question->nr_frames_max - question->nr_frames) {
		question->is_cut = true;
		return 0;
	}
	question->nr_frames += reply->nr;
	chain = &question->chains[reply->value];
	frames = arena__alloc(question->arena, reply->nr * sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	for (size_t i = 0; i < reply->nr; i++) {
		struct sent_frame sent;

		memcpy(&sent, bytes + i * sizeof(sent), sizeof(sent));
		frames[i] = (struct debug_frame){.name = string_of(reader, sent.name),
						 .file = string_of(reader, sent.file),
						 .line = sent.line,
						 .start = sent.start,
						 .is_linkage_name = sent.is_linkage_name};
	}
	chain->frames = frames;
	chain->nr = reply->nr;
	return 0;
}

/* Send one byte, with fd if there is one. The child waits for it, so there is room for it. */
static int send_descriptor(int socket, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	char byte = 0;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS,
						  .cmsg_len = CMSG_LEN(sizeof(fd))};
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 ? 0 : -EPIPE;
}

static int serve_open(struct debug_reader *reader, const unsigned char *bytes, size_t length)
{
	CLEANUP_CLOSE int fd = -1;
	char path[PATH_MAX];

	memcpy(path, bytes, length);
	path[length] = '\0';
	if (reader->caller.open_file && reader->files < DEBUG_READER_FILES_MAX) {
		reader->files++;
		fd = reader->caller.open_file(reader->caller.context, path);
	}
	return send_descriptor(reader->socket, fd);
}

/* How many bytes follow a reply, or -EPROTO. */
static int64_t body_size(const struct reply *reply)
{
	switch (reply->kind) {
	case REPLY_STRING:
		return reply->value <= DEBUG_STRING_MAX ? (int64_t)reply->value : -EPROTO;
	case REPLY_FRAMES:
		return reply->nr && reply->nr <= DEBUG_FRAMES_MAX ?
			       (int64_t)(reply->nr * sizeof(struct sent_frame)) :
			       -EPROTO;
	case REPLY_OPEN:
		return reply->value < PATH_MAX ? (int64_t)reply->value : -EPROTO;
	case REPLY_DONE:
		return 0;
	default:
		return -EPROTO;
	}
}

static int take_reply(struct question *question, const struct reply *reply,
		      const unsigned char *body)
{
	struct debug_reader *reader = question->reader;

	switch (reply->kind) {
	case REPLY_STRING:
		return take_string(reader, (const char *)body, reply->value);
	case REPLY_FRAMES:
		return take_frames(question, reply, body);
	case REPLY_OPEN:
		return serve_open(reader, body, reply->value);
	default:
		question->is_done = true;
		question->result = reply->result < 0 ? reply->result : 0;
		reader->missing = reply->value;
		return 0;
	}
}

/* All replies that have come as a whole; the beginning of the next one is kept. */
static int take_replies(struct question *question)
{
	struct debug_reader *reader = question->reader;
	size_t at = 0;
	int err = 0;

	while (!err && !question->is_done && reader->received - at >= sizeof(struct reply)) {
		struct reply reply;
		int64_t size;

		memcpy(&reply, reader->inbox + at, sizeof(reply));
		size = body_size(&reply);
		if (size < 0)
			return (int)size;
		if (reader->received - at - sizeof(reply) < (uint64_t)size)
			break;
		err = take_reply(question, &reply, reader->inbox + at + sizeof(reply));
		at += sizeof(reply) + (size_t)size;
	}
	reader->received -= at;
	memmove(reader->inbox, reader->inbox + at, reader->received);
	/* Nothing may follow the last reply. */
	return !err && question->is_done && reader->received ? -EPROTO : err;
}

static int receive_some(struct question *question)
{
	struct debug_reader *reader = question->reader;
	ssize_t got = recv(reader->socket, reader->inbox + reader->received,
			   INBOX_SIZE - reader->received, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0)
		return -EPIPE;
	reader->received += (size_t)got;
	return take_replies(question);
}

static int send_some(struct question *question)
{
	ssize_t sent = send(question->reader->socket, question->out + question->sent,
			    question->out_size - question->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -EPIPE;
	question->sent += (size_t)sent;
	return 0;
}

static uint64_t budget_ns(const struct question *question)
{
	uint64_t ms = BUDGET_MS + question->reader->to_read / MB * BUDGET_MS_PER_MB +
		      question->nr / 1000 * BUDGET_MS_PER_THOUSAND;

	return (ms < BUDGET_MS_MAX ? ms : BUDGET_MS_MAX) * (NANOSECONDS / 1000);
}

static int converse(struct question *question)
{
	struct debug_reader *reader = question->reader;
	uint64_t ticked = monotonic_now(), looked = ticked;
	uint64_t deadline = ticked + budget_ns(question);
	int err = 0;

	while (!err && !question->is_done) {
		struct pollfd poll_fd = {.fd = reader->socket, .events = POLLIN};
		uint64_t now;

		if (question->sent < question->out_size)
			poll_fd.events |= POLLOUT;
		if (poll(&poll_fd, 1, TICK_MS) < 0 && errno != EINTR)
			return -errno;
		if (poll_fd.revents & POLLOUT)
			err = send_some(question);
		if (!err && (poll_fd.revents & (POLLIN | POLLHUP | POLLERR)))
			err = receive_some(question);
		now = monotonic_now();
		/* While we were stopped, or opened a file, the child was not late. */
		if (now - looked > 2 * TICK_NS)
			deadline += now - looked - TICK_NS;
		looked = now;
		if (!err && now >= deadline && !question->is_done)
			return -ETIMEDOUT;
		if (now - ticked >= TICK_NS) {
			if (reader->caller.tick)
				reader->caller.tick(reader->caller.context);
			ticked = now;
		}
	}
	return err;
}

/* The number of addresses, and these. */
static int write_question(struct question *question)
{
	uint32_t nr = (uint32_t)question->nr;
	unsigned char *at;

	question->out_size = sizeof(nr) + question->nr * sizeof(uint64_t);
	question->out = malloc(question->out_size);
	if (!question->out)
		return -ENOMEM;
	at = mempcpy(question->out, &nr, sizeof(nr));
	for (size_t i = 0; i < question->nr; i++)
		at = mempcpy(at, &question->chains[i].address, sizeof(uint64_t));
	return 0;
}

/* Why the child has ended by itself: see debug_reader_child__run(). */
static int exit_reason(struct debug_reader *reader)
{
	int status = 0;

	if (!deadline__await_end(reader->child, END_MS, &status))
		return -EPIPE;
	reader->child = -1;
	return WIFEXITED(status) && WEXITSTATUS(status) == DEBUG_NO_SANDBOX ? -EPERM : -EPIPE;
}

static size_t nr_frames_max(size_t nr)
{
	size_t most = FRAMES_SIZE_MAX / sizeof(struct debug_frame);

	return nr > most / FRAMES_PER_ADDRESS ? nr * FRAMES_PER_ADDRESS : most;
}

static int ask(struct debug_reader *reader, struct debug_chain *chains, size_t nr,
	       struct arena *arena)
{
	struct question question = {.reader = reader,
				    .chains = chains,
				    .nr = nr,
				    .nr_frames_max = nr_frames_max(nr),
				    .arena = arena};
	int err = write_question(&question);

	reader->files = 0;
	if (!err)
		err = converse(&question);
	free(question.out);
	if (err == -EPIPE)
		err = exit_reason(reader);
	if (!err)
		err = question.result;
	return !err && question.is_cut ? -EFBIG : err;
}

/* The limits count what the child maps; this counts what it takes from others. */
static void note_memory(struct debug_reader *reader)
{
	uint64_t now = resident_memory(reader->child);

	reader->own = now > reader->inherited ? now - reader->inherited : 0;
}

int debug_reader__find(struct debug_reader *reader, struct debug_chain *chains, size_t nr,
		       struct arena *arena)
{
	int err = 0;

	for (size_t i = 0; i < nr; i++) {
		chains[i].frames = NULL;
		chains[i].nr = 0;
	}
	for (size_t done = 0; done < nr && !reader->has_failed && !err;) {
		size_t some = nr - done < DEBUG_ADDRESSES_MAX ? nr - done : DEBUG_ADDRESSES_MAX;

		err = ask(reader, chains + done, some, arena);
		done += some;
	}
	if (err && err != -EFBIG) {
		reader->has_failed = true;
		end_child(reader, err);
	}
	if (!reader->has_failed)
		note_memory(reader);
	return err;
}
