// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/child/reader_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "sym/child/deadline.h"
#include "sym/child/supervisor.h"
#include "sym/util/array.h"
#include "sym/util/child.h"
#include "sym/util/clock.h"
#include "sym/util/descriptors.h"

#define PIPE_SIZE    (1024 * 1024)
#define ALL_MS	     8000
#define KILL_WAIT_MS 100

/* The last children. A moment after one has ended its PID can be somebody else's. */
#define OWN_MAX	   256
#define OWN_MOMENT (NANOSECONDS / 2)

static struct {
	pid_t pid;
	uint64_t until; /* 0: it has not ended */
} own[OWN_MAX];
static size_t nr_own;

static struct {
	int fd;
	bool (*take)(void *context); /* or NULL */
	void *context;
} attended;

bool reader_child__is_own(pid_t pid)
{
	for (size_t i = 0; i < OWN_MAX; i++)
		if (own[i].pid == pid && (!own[i].until || monotonic_now() < own[i].until))
			return pid > 0;
	return false;
}

static void note_start(pid_t pid)
{
	own[nr_own].pid = pid;
	own[nr_own].until = 0;
	nr_own = (nr_own + 1) % OWN_MAX;
}

static void note_end(pid_t pid)
{
	for (size_t i = 0; i < OWN_MAX; i++)
		if (own[i].pid == pid && !own[i].until)
			own[i].until = monotonic_now() + OWN_MOMENT;
}

/* ---- in the child ---- */

_Noreturn static void be_child(const struct child_role *role, int out, const int *kept,
			       size_t nr_kept, void (*run)(const void *job), const void *job)
{
	int fds[1 + READER_CHILD_KEPT_MAX] = {out};

	child__begin(role);
	signal(SIGPIPE, SIG_DFL); /* the child ends when nobody reads */
	if (nr_kept > READER_CHILD_KEPT_MAX)
		_exit(1);
	for (size_t i = 0; i < nr_kept; i++)
		fds[1 + i] = kept[i];
	if (descriptors__keep(fds, 1 + nr_kept))
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

int reader_child__start(struct reader_child *child, const struct child_role *role,
			void (*run)(const void *job), const void *job, const int *kept,
			size_t nr_kept)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	(void)fcntl(fds[1], F_SETPIPE_SZ, PIPE_SIZE); /* else it is a little slower */
	child->pid = fork();
	if (child->pid == 0)
		be_child(role, fds[1], kept, nr_kept, run, job);
	child__note_start(role, child->pid);
	note_start(child->pid);
	child->role = role;
	child->why = 0;
	child->fd = fds[0];
	child->nr = child->next = 0;
	child->deadline = (struct deadline){0};
	deadline__renew(&child->deadline, ALL_MS);
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
	child__note_end(child->role, child->pid, child->why);
	close(child->fd);
	if (deadline__kill(child->pid, KILL_WAIT_MS))
		note_end(child->pid);
}

/* The child's CPU time in nanoseconds; 0: not known. */
static uint64_t cpu_time_of(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return (uint64_t)time.tv_sec * NANOSECONDS + (uint64_t)time.tv_nsec;
}

/* Returns 0, -ETIMEDOUT or -ETIME. A child waits for a disk as well, but computes in between. */
static int check_progress(struct reader_child *child)
{
	const struct progress progress = {.work = cpu_time_of(child->pid)};

	child->why = deadline__check(&child->deadline, &progress, child->pid);
	return child->why;
}

static bool is_readable(const struct reader_child *child, int milliseconds)
{
	struct pollfd readable = {.fd = child->fd, .events = POLLIN};

	return poll(&readable, 1, milliseconds) > 0;
}

int reader_child__look(struct reader_child *child)
{
	return child->next < child->nr || is_readable(child, 0) ? 1 : check_progress(child);
}

void reader_child__attend(int fd, bool (*take)(void *context), void *context)
{
	attended.fd = fd;
	attended.take = take;
	attended.context = context;
}

/* Wait until there is something to read, or the end. Returns 0, -ETIMEDOUT or -ETIME. */
static int await(struct reader_child *child)
{
	bool attends = attended.take != NULL;

	for (;;) {
		struct pollfd polled[] = {{.fd = child->fd, .events = POLLIN},
					  {.fd = attends ? attended.fd : -1, .events = POLLIN}};
		int err;

		(void)poll(polled, ARRAY_SIZE(polled), LOOK_MS);
		if (polled[1].revents)
			attends = attended.take(attended.context);
		if (polled[0].revents)
			return 0;
		err = check_progress(child);
		if (err)
			return err;
	}
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
	if (got <= 0) {
		child->why = -EPIPE;
		return -EPIPE;
	}
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
	return avoided->nr == AVOIDED_DEVICES_MAX && !major(device);
}

bool avoided_devices__add(struct avoided_devices *avoided, uint64_t device)
{
	if (major(device) || !device || avoided_devices__has(avoided, device))
		return false;
	debug_log__say(DEBUG_LOG_FILES, "avoids device %u:%u from now on", major(device),
		       minor(device));
	avoided->devices[avoided->nr++] = device;
	return true;
}
