// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/reader_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/util/child.h"
#include "core/util/clock.h"
#include "core/util/descriptors.h"
#include "sym/patience.h"

#define PIPE_SIZE    (1024 * 1024)
#define ALL_MS	     8000
#define KILL_WAIT_MS 100

#define OWN_MAX 256

static pid_t own[OWN_MAX];
static size_t nr_own;

bool reader_child__is_own(pid_t pid)
{
	for (size_t i = 0; i < OWN_MAX; i++)
		if (own[i] == pid)
			return true;
	return false;
}

/* ---- in the child ---- */

_Noreturn static void be_child(int out, void (*run)(const void *job), const void *job)
{
	child__begin();
	signal(SIGPIPE, SIG_DFL); /* nobody reads any more: it ends */
	if (descriptors__keep_one(out))
		_exit(1);
	run(job);
	_exit(0);
}

void reader_child__write(const void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t written = write(0, (const char *)bytes + done, size - done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			_exit(1);
		done += (size_t)written;
	}
}

/* ---- in the parent ---- */

void reader_child__renew(struct reader_child *child)
{
	child->deadline = monotonic_now() + ALL_MS * 1000000ULL;
}

int reader_child__start(struct reader_child *child, void (*run)(const void *job), const void *job)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	(void)fcntl(fds[1], F_SETPIPE_SZ, PIPE_SIZE); /* else it is a little slower */
	child->pid = fork();
	if (child->pid == 0)
		be_child(fds[1], run, job);
	own[nr_own++ % OWN_MAX] = child->pid;
	child->fd = fds[0];
	child->nr = child->next = 0;
	reader_child__renew(child);
	close(fds[1]);
	if (child->pid < 0) {
		int err = -errno;

		close(fds[0]);
		return err;
	}
	return 0;
}

void reader_child__stop(struct reader_child *child)
{
	close(child->fd);
	(void)patience__kill(child->pid, KILL_WAIT_MS);
}

/* Until there is something to read, or the end. Returns 0, -ETIMEDOUT or -ETIME. */
static int await(const struct reader_child *child)
{
	struct pollfd readable = {.fd = child->fd, .events = POLLIN};

	while (monotonic_now() < child->deadline) {
		int ready = poll(&readable, 1, PATIENCE_MS);

		if (ready > 0)
			return 0;
		if (ready == 0 && !patience__is_runnable(child->pid))
			return -ETIMEDOUT;
	}
	return -ETIME;
}

static int read_some(struct reader_child *child)
{
	ssize_t got;
	int err = await(child);

	if (err)
		return err;
	got = read(child->fd, child->bytes, sizeof(child->bytes));
	if (got < 0 && errno == EINTR)
		return 0;
	if (got <= 0)
		return -EPIPE;
	child->nr = (size_t)got;
	child->next = 0;
	return 0;
}

int reader_child__read(struct reader_child *child, void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		size_t there = child->nr - child->next;
		size_t taken = there < size - done ? there : size - done;
		int err = there ? 0 : read_some(child);

		if (err)
			return err;
		memcpy((char *)bytes + done, child->bytes + child->next, taken);
		child->next += taken;
		done += taken;
	}
	return 0;
}

/* ---- what is avoided ---- */

bool avoided_devices__has(const struct avoided_devices *avoided, uint64_t device)
{
	for (size_t i = 0; i < avoided->nr; i++)
		if (avoided->devices[i] == device)
			return true;
	return avoided->nr == AVOIDED_DEVICES_MAX;
}

bool avoided_devices__add(struct avoided_devices *avoided, uint64_t device)
{
	if (major(device) || !device || avoided_devices__has(avoided, device))
		return false;
	avoided->devices[avoided->nr++] = device;
	return true;
}
