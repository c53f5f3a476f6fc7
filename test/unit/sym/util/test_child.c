// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A child of a child tells by a pipe when it begins; the end of the pipe tells that it has ended.
 */
#include "sym/util/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/unit/tap.h"

#define WAIT_MS 10000

/* Signals that are for the parent do not end it. */
static _Noreturn void be_grandchild(int out)
{
	static const struct child_role role = {"grandchild", DEBUG_LOG_FILES};

	child__begin(&role);
	raise(SIGINT);
	raise(SIGTERM);
	(void)!write(out, "", 1);
	for (;;)
		pause();
}

static _Noreturn void be_parent(int in, int out)
{
	if (fork() == 0)
		be_grandchild(out);
	close(out);
	/* Until it is told to end. */
	(void)!read(in, &(char){0}, 1);
	_exit(0);
}

/* True if a byte comes or, with bytes 0, the end. */
static bool comes(int fd, ssize_t bytes)
{
	struct pollfd readable = {.fd = fd, .events = POLLIN};
	char byte;

	return poll(&readable, 1, WAIT_MS) == 1 && read(fd, &byte, 1) == bytes;
}

static void ends_with_the_parent(void)
{
	int to[2], from[2];
	pid_t parent;

	if (!CHECK(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0))
		return;
	parent = fork();
	if (parent == 0) {
		close(to[1]);
		be_parent(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	CHECK(comes(from[0], 1));
	close(to[1]);
	waitpid(parent, NULL, 0);
	CHECK(comes(from[0], 0));
	close(from[0]);
}

static const struct tap_test tests[] = {
	{"a child lives through Ctrl-C, and ends with its parent", ends_with_the_parent},
};

int main(void)
{
	return TAP_RUN(tests);
}
