// SPDX-License-Identifier: GPL-2.0-or-later
/* Each case is a child that enters the sandbox, tries, and says by its status how it went. */
#include "sym/child/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

#define MEMORY	     ((uint64_t)256 * 1024 * 1024)
#define ENTRY_FAILED 100

/* The child that makes an attempt has this PID: inside it may not ask for it. */
static pid_t own_pid;

/* The status of a child in which attempt ran, inside, as wait() has it. */
static int run_inside(int (*attempt)(int fd), unsigned int cpu_seconds)
{
	CLEANUP_CLOSE int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	pid_t parent = getpid(), child = fork();
	int status = -1;

	if (child == 0) {
		struct sandbox sandbox = {.parent = parent,
					  .fds = &zero,
					  .nr_fds = 1,
					  .received_fds = 1,
					  .memory = MEMORY,
					  .cpu_seconds = cpu_seconds};

		own_pid = getpid();
		/* Not _exit(): a sanitizer looks for leaks then, and may not. */
		syscall(SYS_exit_group, sandbox__enter(&sandbox) ? ENTRY_FAILED : attempt(zero));
	}
	waitpid(child, &status, 0);
	return status;
}

static void check_inside(int (*attempt)(int fd), const char *what)
{
	int status = run_inside(attempt, 10);

	tap_check(WIFEXITED(status) && WEXITSTATUS(status) == 0, __FILE__, __LINE__,
		  "%s: the child ended with status %#x", what, (unsigned int)status);
}

/*
 * Attempts are such as anyone may make outside: a refusal to a user without rights would say
 * nothing about this process. 0 if the result says that this was not allowed.
 */
static int refused(long result)
{
	return result == -1 && errno == EPERM ? 0 : 1;
}

static int open_file(int fd)
{
	(void)fd;
	return refused(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY));
}

static int fork_child(int fd)
{
	(void)fd;
	return refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static int send_signal(int fd)
{
	(void)fd;
	return refused(kill(own_pid, 0)) || refused(syscall(SYS_tgkill, own_pid, own_pid, 0));
}

static int make_socket(int fd)
{
	int fds[2];

	(void)fd;
	return refused(socket(AF_UNIX, SOCK_STREAM, 0)) ||
	       refused(socket(AF_INET, SOCK_DGRAM, 0)) ||
	       refused(socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
}

static int run_program(int fd)
{
	/* The program's status is that of a failure. */
	char *const arguments[] = {(char *)"/bin/false", NULL};

	(void)fd;
	return refused(execve(arguments[0], arguments, arguments));
}

static int map_file(int fd)
{
	void *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	return refused(mapped == MAP_FAILED ? -1 : 0);
}

static int map_code(int fd)
{
	void *mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)fd;
	return refused(mapped == MAP_FAILED ? -1 : 0);
}

static int be_traced(int fd)
{
	(void)fd;
	return refused(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

/* To what they are. */
static int change_ids(int fd)
{
	(void)fd;
	return refused(syscall(SYS_setresuid, -1, -1, -1)) ||
	       refused(syscall(SYS_setresgid, -1, -1, -1));
}

static int change_limits(int fd)
{
	const struct rlimit none = {0};

	(void)fd;
	return refused(setrlimit(RLIMIT_CORE, &none));
}

static void what_is_refused(void)
{
	static const struct {
		int (*attempt)(int fd);
		const char *what;
	} attempts[] = {
		{open_file, "to open a file"},	   {fork_child, "to fork"},
		{send_signal, "to send a signal"}, {make_socket, "to make a socket"},
		{run_program, "to run a program"}, {map_file, "to map a file"},
		{map_code, "to map code"},	   {be_traced, "to be traced"},
		{change_ids, "to change users"},   {change_limits, "to change limits"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++)
		check_inside(attempts[i].attempt, attempts[i].what);
}

static int read_and_allocate(int fd)
{
	char bytes[8] = "before";
	char *memory = malloc(64 * 1024 * 1024);

	if (fd != 0 || read(fd, bytes, sizeof(bytes)) != sizeof(bytes) || bytes[0] || !memory)
		return 1;
	memset(memory, 1, 64 * 1024 * 1024);
	free(memory);
	/* A closed descriptor, not a call that is refused. */
	return write(1, bytes, 1) == -1 && errno == EBADF ? 0 : 2;
}

static void what_is_allowed(void)
{
	check_inside(read_and_allocate, "to read and to allocate");
}

#ifndef __SANITIZE_ADDRESS__
static int allocate_much(int fd)
{
	void *mapped =
		mmap(NULL, 2 * MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)fd;
	return mapped == MAP_FAILED && errno == ENOMEM ? 0 : 1;
}
#endif

static void limit_of_memory(void)
{
#ifdef __SANITIZE_ADDRESS__
	tap_skip("the sanitizer maps what it likes");
#else
	check_inside(allocate_much, "to allocate too much");
#endif
}

/* If the present mappings cannot be known, there is no limit, and so no way in. */
static void without_proc(void)
{
	pid_t parent = getpid(), child = fork();
	int status = -1;

	if (child == 0) {
		int fd = 0;
		struct sandbox sandbox = {.parent = parent,
					  .fds = &fd,
					  .nr_fds = 1,
					  .memory = MEMORY,
					  .cpu_seconds = 9};

		/* The new root has no /proc itself. Not _exit(): see above. */
		if (chroot("/proc"))
			syscall(SYS_exit_group, ENTRY_FAILED);
		syscall(SYS_exit_group, sandbox__enter(&sandbox) == -EPERM ? 0 : 1);
	}
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == ENTRY_FAILED)
		tap_skip("only root can have another root");
	else
		CHECK_INT(status, 0);
}

static int loop(int fd)
{
	for (volatile unsigned int i = 0;; i++)
		(void)fd;
	return 0;
}

static void limit_of_time(void)
{
	int status = run_inside(loop, 1);

	CHECK(WIFSIGNALED(status));
	CHECK(WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
}

/* What /proc/PID/status says of a child inside. */
static void read_status(char *status, size_t size)
{
	int pipes[2], fds[1];
	pid_t parent = getpid(), child;
	CLEANUP_CLOSE int file = -1;
	ssize_t got;
	char path[64];

	if (!CHECK_INT(pipe2(pipes, O_CLOEXEC), 0))
		return;
	child = fork();
	if (child == 0) {
		struct sandbox sandbox = {.parent = parent,
					  .fds = fds,
					  .nr_fds = 1,
					  .memory = MEMORY,
					  .cpu_seconds = 9};

		fds[0] = pipes[1];
		if (sandbox__enter(&sandbox) == 0)
			(void)!write(0, "x", 1);
		for (;;)
			(void)!read(0, path, 1);
	}
	close(pipes[1]);
	CHECK_INT(read(pipes[0], path, 1), 1);
	close(pipes[0]);
	snprintf(path, sizeof(path), "/proc/%d/status", child);
	file = open(path, O_RDONLY | O_CLOEXEC);
	got = read(file, status, size - 1);
	status[got > 0 ? got : 0] = '\0';
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* The user, or group, that a child is in all respects. */
static unsigned int number_of(const char *status, const char *line)
{
	const char *at = strstr(status, line);
	unsigned int n[4] = {0};

	CHECK(at && sscanf(at + strlen(line), "%u %u %u %u", &n[0], &n[1], &n[2], &n[3]) == 4);
	CHECK(n[0] == n[1] && n[0] == n[2] && n[0] == n[3]);
	return n[0];
}

/*
 * Whoever the child was: it asks for groups and users in front of the filter, which refuses them.
 */
static void users(void)
{
	char status[4096], other[4096];

	if (geteuid() != 0) {
		tap_skip("only root can become somebody else");
		return;
	}
	read_status(status, sizeof(status));
	read_status(other, sizeof(other));
	CHECK(number_of(status, "\nUid:") >= 1U << 31);
	CHECK(number_of(status, "\nGid:") >= 1U << 31);
	CHECK(number_of(status, "\nUid:") != number_of(other, "\nUid:"));
	CHECK(strstr(status, "\nGroups:\t \n") || strstr(status, "\nGroups:\t\n"));
	CHECK(strstr(status, "\nCapPrm:\t0000000000000000\n"));
	CHECK(strstr(status, "\nCapEff:\t0000000000000000\n"));
	CHECK(strstr(status, "\nNoNewPrivs:\t1\n"));
	CHECK(strstr(status, "\nSeccomp:\t2\n"));
}

static char *shared, *own;

static int use_own(int fd)
{
	own[fd] = 1;
	return own[0] - 1;
}

static int use_shared(int fd)
{
	return shared[fd];
}

/* Memory that others have as well is not there any more. */
static void shared_memory(void)
{
	int status;

	own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!CHECK(own != MAP_FAILED && shared != MAP_FAILED))
		return;
	check_inside(use_own, "to use memory of its own");
	status = run_inside(use_shared, 10);
	CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 0); /* a sanitizer makes it an exit */
	CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != ENTRY_FAILED);
	CHECK_INT(mprotect(shared, 4096, PROT_READ), 0);
	check_inside(use_shared, "to read what it may not write to");
	munmap(own, 4096);
	munmap(shared, 4096);
}

/* oom_score_adj is opened in front of the sandbox, and read inside. */
static void shortage_of_memory(void)
{
	pid_t parent = getpid(), child = fork();
	int status = -1;

	if (child == 0) {
		int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
		struct sandbox sandbox = {.parent = parent,
					  .fds = &fd,
					  .nr_fds = 1,
					  .memory = MEMORY,
					  .cpu_seconds = 9};
		char score[16] = "";

		/* Not _exit(): see above. */
		if (sandbox__enter(&sandbox) || read(fd, score, sizeof(score) - 1) < 0)
			syscall(SYS_exit_group, ENTRY_FAILED);
		syscall(SYS_exit_group, strcmp(score, "1000\n") != 0);
	}
	waitpid(child, &status, 0);
	CHECK_INT(status, 0);
}

static int nothing(int fd)
{
	(void)fd;
	return 0;
}

/* The parent may have ended before the child asked to be told of its end. */
static void parent_that_has_gone(void)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		int fd = 0;
		struct sandbox sandbox = {
			.parent = 1, .fds = &fd, .nr_fds = 1, .memory = MEMORY, .cpu_seconds = 9};

		_exit(getppid() == 1 || sandbox__enter(&sandbox) == -ESRCH ? 0 : 1);
	}
	waitpid(child, &status, 0);
	CHECK_INT(status, 0);
	check_inside(nothing, "to enter");
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"what could do harm is refused", what_is_refused},
		{"what is needed to read is allowed", what_is_allowed},
		{"memory has a limit", limit_of_memory},
		{"where it can have none the sandbox is not entered", without_proc},
		{"time has a limit", limit_of_time},
		{"when memory runs out it ends first", shortage_of_memory},
		{"root becomes a user that nobody is, without groups and capabilities", users},
		{"it shares no memory that it could write to", shared_memory},
		{"without its parent it is not entered", parent_that_has_gone},
	};

	return TAP_RUN(tests);
}
