// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/dwarf/reader_child.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sym/child/sandbox.h"
#include "sym/dwarf/data.h"
#include "sym/dwarf/image.h"
#include "sym/dwarf/package.h"
#include "sym/dwarf/protocol.h"
#include "sym/elf/file.h"
#include "sym/util/array.h"
#include "sym/util/child.h"
#include "sym/util/cleanup.h"

#define OUT_SIZE ((size_t)64 * 1024)

/* Strings that have been sent: their numbers by their hash, in a table with open addressing. */
struct sent_strings {
	struct sent_string {
		uint64_t hash;
		uint32_t number; /* 0: free */
	} * slots;
	size_t nr, size; /* size is a power of two, or 0 */
};

struct child {
	int socket;
	uint64_t work_left; /* of the question, or of reading the file */
	struct debug_image image, alternate;
	struct debug_package package;
	struct debug_data *data;
	struct sent_strings strings;
	uint64_t *addresses;
	size_t nr;
	unsigned char *out; /* bytes still to be sent */
	size_t pending;
};

static void receive_all(int socket, void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = recv(socket, (char *)bytes + done, size - done, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			_exit(0); /* the parent has no more questions, or none for long */
		done += (size_t)got;
	}
}

static void flush(struct child *child)
{
	for (size_t done = 0; done < child->pending;) {
		ssize_t sent =
			send(child->socket, child->out + done, child->pending - done, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			_exit(0);
		done += (size_t)sent;
	}
	child->pending = 0;
}

/* size: at most OUT_SIZE. */
static void put(struct child *child, const void *bytes, size_t size)
{
	if (size > OUT_SIZE - child->pending)
		flush(child);
	memcpy(child->out + child->pending, bytes, size);
	child->pending += size;
}

/*
 * Eight bytes at a time: C++ names are long, and each frame has one. A file whose strings
 * collide has wrong names of its own making.
 */
static uint64_t hash_of(const char *text, size_t length)
{
	uint64_t hash = length;

	for (size_t i = 0; i < length; i += sizeof(hash)) {
		size_t left = length - i;
		uint64_t word = 0;

		if (left >= sizeof(word))
			memcpy(&word, text + i, sizeof(word));
		else
			memcpy(&word, text + i, left);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
	}
	return hash;
}

static struct sent_string *slot_of(const struct sent_strings *strings, uint64_t hash)
{
	size_t at = hash & (strings->size - 1);

	while (strings->slots[at].number && strings->slots[at].hash != hash)
		at = (at + 1) & (strings->size - 1);
	return &strings->slots[at];
}

static int make_room(struct sent_strings *strings)
{
	struct sent_strings larger = {.nr = strings->nr,
				      .size = strings->size ? 2 * strings->size : 1024};

	if (2 * (strings->nr + 1) <= strings->size)
		return 0;
	larger.slots = calloc(larger.size, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < strings->size; i++)
		if (strings->slots[i].number)
			*slot_of(&larger, strings->slots[i].hash) = strings->slots[i];
	free(strings->slots);
	*strings = larger;
	return 0;
}

/* The number of a string, which is sent if it is new; 0: none, or no memory. */
static uint32_t number_of(struct child *child, const char *text)
{
	struct reply reply = {.kind = REPLY_STRING};
	struct sent_string *slot;
	uint64_t hash;

	if (!text || make_room(&child->strings))
		return 0;
	reply.value = (uint32_t)strnlen(text, DEBUG_STRING_MAX);
	hash = hash_of(text, reply.value);
	slot = slot_of(&child->strings, hash);
	if (!slot->number) {
		*slot = (struct sent_string){.hash = hash, .number = (uint32_t)++child->strings.nr};
		put(child, &reply, sizeof(reply));
		put(child, text, reply.value);
	}
	return slot->number;
}

/* emit() of struct debug_data_caller. */
static int send_frames(void *context, size_t index, const struct debug_frame *frames, size_t nr)
{
	struct child *child = context;
	struct sent_frame sent[DEBUG_FRAMES_MAX];
	struct reply reply = {.kind = REPLY_FRAMES, .value = (uint32_t)index, .nr = (uint32_t)nr};

	for (size_t i = 0; i < nr; i++)
		sent[i] = (struct sent_frame){.name = number_of(child, frames[i].name),
					      .file = number_of(child, frames[i].file),
					      .line = frames[i].line,
					      .start = frames[i].start,
					      .is_linkage_name = frames[i].is_linkage_name};
	put(child, &reply, sizeof(reply));
	put(child, sent, nr * sizeof(sent[0]));
	return 0;
}

/* Receive one byte, and with it a descriptor if there is one. */
static int receive_descriptor(int socket)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *header;
	ssize_t got;
	int fd;

	do
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		_exit(0);
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_type != SCM_RIGHTS)
		return -ENOENT;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

/* open_file() of struct debug_data_caller. */
static int ask_for_file(void *context, const char *path)
{
	struct child *child = context;
	struct reply reply = {.kind = REPLY_OPEN, .value = (uint32_t)strnlen(path, PATH_MAX - 1)};

	put(child, &reply, sizeof(reply));
	put(child, path, reply.value);
	flush(child);
	return receive_descriptor(child->socket);
}

static int load(struct child *child, const struct debug_reader_job *job)
{
	uint64_t *work = &child->work_left;
	bool has_alternate;
	int err = debug_image__load(&child->image, job->plan, work);

	if (err)
		return err;
	has_alternate =
		job->alternate && debug_image__load(&child->alternate, job->alternate, work) == 0;
	child->package.elf = job->package;
	return debug_data__new(&child->data, &child->image,
			       has_alternate ? &child->alternate : NULL,
			       job->package ? &child->package : NULL);
}

static int answer(struct child *child)
{
	const struct debug_data_caller caller = {
		.context = child, .emit = send_frames, .open_file = ask_for_file};

	return debug_data__find(child->data, child->addresses, child->nr, &caller,
				&child->work_left);
}

static void receive_question(struct child *child)
{
	uint32_t nr;

	receive_all(child->socket, &nr, sizeof(nr));
	free(child->addresses);
	child->addresses = calloc((size_t)nr + 1, sizeof(*child->addresses));
	if (nr > DEBUG_ADDRESSES_MAX || !child->addresses)
		_exit(1);
	child->nr = nr;
	receive_all(child->socket, child->addresses, nr * sizeof(*child->addresses));
}

static int enter_sandbox(const struct debug_reader_job *job, struct child *child)
{
	int fds[4] = {job->socket, job->plan->elf->fd};
	struct sandbox sandbox = {.parent = job->parent,
				  .fds = fds,
				  .nr_fds = 2,
				  .received_fds = 1,
				  .memory = job->memory,
				  .cpu_seconds = job->cpu_seconds};
	int err;

	if (job->alternate)
		fds[sandbox.nr_fds++] = job->alternate->elf->fd;
	if (job->package)
		fds[sandbox.nr_fds++] = job->package->fd;
	err = sandbox__enter(&sandbox);
	child->socket = fds[0];
	return err;
}

const struct child_role debug_reader_role = {"DWARF reader", DEBUG_LOG_NAMES};

_Noreturn void debug_reader_child__run(const struct debug_reader_job *job)
{
	struct child child = {0};
	struct elf_file elf = *job->plan->elf, alternate = {0}, package = {0};
	struct debug_plan plan = *job->plan, alternate_plan = {0};
	struct debug_reader_job own = *job;
	int err;

	child__begin(&debug_reader_role);
	/* The descriptors get other numbers. */
	plan.elf = &elf;
	own.plan = &plan;
	if (job->alternate) {
		alternate = *job->alternate->elf;
		alternate_plan = *job->alternate;
		alternate_plan.elf = &alternate;
		own.alternate = &alternate_plan;
	}
	if (job->package) {
		package = *job->package;
		own.package = &package;
	}
	child.out = malloc(OUT_SIZE);
	if (!child.out || enter_sandbox(job, &child))
		_exit(DEBUG_NO_SANDBOX);
	elf.fd = 1;
	alternate.fd = 2;
	package.fd = job->alternate ? 3 : 2;
	/* The question may still be in the making. */
	child.work_left = DEBUG_DATA_WORK;
	err = load(&child, &own);
	for (;;) {
		struct reply last = {.kind = REPLY_DONE};

		receive_question(&child);
		child.work_left = DEBUG_DATA_WORK;
		last.result = err ? err : answer(&child);
		last.value = child.data ? (uint32_t)debug_data__nr_missing(child.data) : 0;
		put(&child, &last, sizeof(last));
		flush(&child);
	}
}
