// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/symfile/mini_symbols.h"

#include <errno.h>
#include <lzma.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "sym/child/deadline.h"
#include "sym/child/sandbox.h"
#include "sym/elf/file.h"
#include "sym/elf/work.h"
#include "sym/util/child.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"

/*
 * The symbols of the largest browsers have some 40 MB, a quarter of that compressed. The
 * dictionary of "xz -9" has 64 MB; only what is written to of it is memory.
 */
#define OUTPUT_MAX   (64 * 1024 * 1024)
#define INPUT_MAX    (OUTPUT_MAX / 2)
#define MEMORY_MAX   (80 * 1024 * 1024)
#define MEMORY_SLACK (16 * 1024 * 1024)

/* A unit of work takes as long as so many bytes of output; input is about as costly. */
#define BYTES_PER_WORK 16

/* Time for a child, and time that it may take to end once it has been killed. */
#define BUDGET_SECONDS 2
#define TICK_MS	       50
#define END_MS	       1000

#define PIECE (32 * 1024)

static const struct child_role role = {"inflater", DEBUG_LOG_FILES};

/* A message of the child: bytes, as many as it has, until there is a result. */
#define MORE 1
struct message {
	int32_t result; /* MORE; or, without bytes, 0 at the end or a negative errno */
	uint8_t bytes[PIECE];
};

/* ---- the child ---- */

static int outcome_of(lzma_ret ret)
{
	switch (ret) {
	case LZMA_STREAM_END:
	case LZMA_OK:
		return 0;
	case LZMA_MEM_ERROR:
	case LZMA_MEMLIMIT_ERROR:
		return -EFBIG;
	default:
		return -EBADMSG;
	}
}

int mini_symbols__inflate(const uint8_t *bytes, size_t size, mini_symbols_take take, void *context)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret ret = lzma_stream_decoder(&stream, MEMORY_MAX, 0);
	uint8_t output[PIECE];
	int err = outcome_of(ret);

	stream.next_in = bytes;
	stream.avail_in = size;
	while (!err && ret != LZMA_STREAM_END) {
		stream.next_out = output;
		stream.avail_out = sizeof(output);
		/* With room for output it makes progress or is done for. */
		ret = lzma_code(&stream, LZMA_FINISH);
		err = outcome_of(ret);
		if (!err && stream.total_out > OUTPUT_MAX)
			err = -EFBIG;
		if (!err && stream.avail_out < sizeof(output))
			err = take(context, output, sizeof(output) - stream.avail_out);
	}
	lzma_end(&stream);
	return err;
}

static void send_message(int socket, int32_t result, const uint8_t *bytes, size_t size)
{
	struct message message = {.result = result};
	ssize_t sent;

	if (size)
		memcpy(message.bytes, bytes, size);
	do
		sent = send(socket, &message, offsetof(struct message, bytes) + size, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		_exit(1); /* the parent wants no more */
}

/* For mini_symbols__inflate(). */
static int send_piece(void *context, const uint8_t *bytes, size_t size)
{
	const int *socket = context;

	send_message(*socket, MORE, bytes, size);
	return 0;
}

static _Noreturn void run_child(pid_t parent, int socket, const uint8_t *bytes, size_t size)
{
	struct sandbox sandbox = {.parent = parent,
				  .fds = &socket,
				  .nr_fds = 1,
				  .memory = MEMORY_MAX + MEMORY_SLACK,
				  .cpu_seconds = BUDGET_SECONDS};
	int err;

	child__begin(&role);
	err = sandbox__enter(&sandbox) ? -EPERM :
					 mini_symbols__inflate(bytes, size, send_piece, &socket);
	send_message(socket, err, NULL, 0);
	_exit(0);
}

/* ---- the parent ---- */

static int write_all(int fd, const uint8_t *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t put = write(fd, bytes + done, size - done);

		if (put < 0 && errno != EINTR)
			return -errno;
		done += put > 0 ? (size_t)put : 0;
	}
	return 0;
}

/* Anyone may control the child by now: it says nothing that could not be. */
static int take_result(int32_t result)
{
	return result == 0 || result == -EFBIG || result == -EPERM ? result : -EBADMSG;
}

/*
 * Write what the child sends into the file, until it says that this is all. Waiting is charged,
 * too: whoever watches the work sees that we have not come to a halt.
 */
static int take_messages(int socket, int fd, const struct work *work)
{
	uint64_t deadline = monotonic_now() + BUDGET_SECONDS * NANOSECONDS, total = 0;
	struct message message;
	int err = 0;

	while (!err) {
		struct pollfd poll_fd = {.fd = socket, .events = POLLIN};
		size_t size;
		ssize_t got;

		poll(&poll_fd, 1, TICK_MS);
		work__charge(work, 1);
		if (monotonic_now() > deadline || !work__is_left(work))
			return -EFBIG;
		got = recv(socket, &message, sizeof(message), MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got < (ssize_t)offsetof(struct message, bytes))
			return -EPIPE;
		if (message.result != MORE)
			return take_result(message.result);
		size = (size_t)got - offsetof(struct message, bytes);
		total += size;
		work__charge(work, size / BYTES_PER_WORK);
		err = total > OUTPUT_MAX ? -EFBIG : write_all(fd, message.bytes, size);
	}
	return err;
}

static int inflate_into(int fd, const uint8_t *bytes, size_t size, const struct work *work)
{
	pid_t parent = getpid(), child;
	int sockets[2], err;

	/* Messages arrive as they were sent, or not at all. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	child = fork();
	if (child == 0)
		run_child(parent, sockets[1], bytes, size);
	err = child < 0 ? -errno : 0;
	child__note_start(&role, child);
	close(sockets[1]);
	if (!err)
		err = take_messages(sockets[0], fd, work);
	close(sockets[0]);
	if (child > 0)
		(void)deadline__kill(child, END_MS);
	child__note_end(&role, child, err);
	return err;
}

/*
 * All of the section that the file has. It is read here, since the child waits for nothing but us,
 * so that it ends when it is killed, wherever the file lies.
 */
static int read_section(const struct elf_file *elf, const struct elf_section *section,
			uint8_t *bytes, size_t *size, const struct work *work)
{
	size_t got = PIECE;

	for (*size = 0; *size < section->size && got == PIECE; *size += got) {
		uint64_t left = section->size - *size;

		got = elf_file__read(elf, bytes + *size, left < PIECE ? (size_t)left : PIECE,
				     section->offset + *size);
		work__charge(work, 1 + got / BYTES_PER_WORK);
		if (!work__is_left(work))
			return -EFBIG;
	}
	return 0;
}

static bool is_of_same_kind(const struct elf_file *elf, int fd)
{
	CLEANUP(elf_file__close) struct elf_file inflated = {.fd = -1};

	return elf_file__open(&inflated, fd) == 0 && inflated.machine == elf->machine &&
	       inflated.is_64bit == elf->is_64bit;
}

int mini_symbols__open(const struct elf_file *elf, uint64_t *work)
{
	const struct elf_section *section = elf_file__find_section(elf, ".gnu_debugdata", false);
	const struct work share = work__share(work, 2 * (OUTPUT_MAX / BYTES_PER_WORK));
	CLEANUP_FREE uint8_t *bytes = NULL;
	CLEANUP_CLOSE int fd = -1;
	size_t size = 0;
	int err;

	if (!section)
		return -ENOENT;
	if (section->size > INPUT_MAX)
		return -EFBIG;
	bytes = malloc(section->size + 1);
	if (!bytes)
		return -ENOMEM;
	fd = memfd_create("gnu_debugdata", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = read_section(elf, section, bytes, &size, &share);
	if (!err)
		err = inflate_into(fd, bytes, size, &share);
	if (!err && !is_of_same_kind(elf, fd))
		err = -EBADMSG;
	return err ? err : TAKE_FD(fd);
}
