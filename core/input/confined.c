// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/confined.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/child/sandbox.h"
#include "sym/util/child.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/message.h"
#include "sym/util/page.h"

/* Whoever started it waits for it, and can end it at any time. */
#define CPU_SECONDS 3600

/* A picture has 5 MB at most; a table as many lines as are asked for. */
#define FILE_BYTES ((uint64_t)1024 * 1024 * 1024)

/* The descriptor of the result, in the child: its inputs are 0 and those behind. */
#define RESULT 3

/* The exit status of a child that has results, but not all: others are 0 and 1. */
#define NOT_ALL 2

static const struct child_role role = {"stack reader", DEBUG_LOG_FILES};

/* ---- the child ---- */

int confined__input(size_t i)
{
	return i == 0 ? STDIN_FILENO : RESULT + (int)i;
}

static ssize_t write_result(void *cookie, const char *bytes, size_t size)
{
	(void)cookie;
	return write(RESULT, bytes, size);
}

/* fdopen() asks for the flags of the descriptor, which the sandbox refuses. */
FILE *confined__open_result(void)
{
	return fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_result});
}

static int fail(const char *what, int code)
{
	message("%s: %s", what, strerror(-code));
	return 1;
}

/* As many bytes as the machine has: then the tree has a message of its own. */
static uint64_t memory_of_machine(void)
{
	long pages = sysconf(_SC_PHYS_PAGES);

	return pages > 0 ? (uint64_t)pages * page_size() : UINT32_MAX;
}

/* Returns its exit status. */
static int be_child(pid_t parent, int *fds, size_t nr, const struct confined_work *work)
{
	struct sandbox sandbox = {.parent = parent,
				  .fds = fds,
				  .nr_fds = nr,
				  .memory = memory_of_machine(),
				  .file_bytes = FILE_BYTES,
				  .cpu_seconds = CPU_SECONDS};
	struct error error = {{0}};
	int err;

	child__begin(&role);
	signal(SIGXFSZ, SIG_IGN); /* it is an error of write() */
	err = sandbox__enter(&sandbox);
	if (err)
		return fail("cannot enter the sandbox, which needs /proc, and root or seccomp",
			    err);
	err = work->run(work->argument, &error);
	if (err < 0 && error.text[0])
		message("%s", error.text);
	if (err >= 0 && fflush(stdout))
		return fail("cannot write the output", -errno);
	return err < 0 ? 1 : err ? NOT_ALL : 0;
}

/* ---- the parent ---- */

int confined__copy(int fd, FILE *to)
{
	char piece[16 * 1024];
	ssize_t got;
	off_t at = 0;

	while ((got = pread(fd, piece, sizeof(piece), at)) > 0) {
		fwrite(piece, 1, (size_t)got, to);
		at += got;
	}
	return got < 0 ? -errno : 0;
}

/* Wait for it. Returns 0, 1, or a negative errno with error filled, or empty. */
static int await(pid_t child, struct error *error)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return error__set(error, -errno, "cannot wait for a child: %s",
					  strerror(errno));
	child__note_end(&role, child, 0);
	if (WIFEXITED(status)) {
		error->text[0] = '\0';
		return WEXITSTATUS(status) == NOT_ALL ? 1 : WEXITSTATUS(status) ? -EINVAL : 0;
	}
	if (WTERMSIG(status) == SIGKILL)
		return error__set(error, -ENOMEM,
				  "the child that reads the files was killed: it needed more than "
				  "%d s of CPU time, or more memory than there is",
				  CPU_SECONDS);
	return error__set(error, -EIO, "the child that reads the files was ended by signal %d (%s)",
			  WTERMSIG(status), strsignal(WTERMSIG(status)));
}

static int make_file(int *fd)
{
	*fd = memfd_create("tracekit", MFD_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}

/* Returns 0 or a negative errno; *child: the one that has been started. */
static int start(const struct confined *confined, int messages, const struct confined_work *work,
		 pid_t *child)
{
	/* Behind each other, as confined__input() has them. */
	int fds[RESULT + CONFINED_INPUTS_MAX] = {work->inputs[0], confined->out, messages,
						 confined->result};
	pid_t parent = getpid();

	if (work->nr_inputs > 1)
		fds[RESULT + 1] = work->inputs[1];
	*child = fork();
	/* Not _exit(), before which a sanitizer asks for what the sandbox refuses. */
	if (*child == 0)
		syscall(SYS_exit_group, be_child(parent, fds, RESULT + work->nr_inputs, work));
	child__note_start(&role, *child);
	return *child < 0 ? -errno : 0;
}

int confined__run(struct confined *confined, const struct confined_work *work, struct error *error)
{
	CLEANUP_CLOSE int messages = -1;
	pid_t child;
	int err = make_file(&messages);

	if (!err)
		err = make_file(&confined->out);
	if (!err)
		err = make_file(&confined->result);
	if (!err)
		err = start(confined, messages, work, &child);
	if (err)
		return error__set(error, err, "cannot start a child to read the files: %s",
				  strerror(-err));
	err = await(child, error);
	confined__copy(messages, stderr);
	return err;
}

void confined__release(struct confined *confined)
{
	if (confined->out >= 0)
		close(confined->out);
	if (confined->result >= 0)
		close(confined->result);
	confined->out = confined->result = -1;
}
