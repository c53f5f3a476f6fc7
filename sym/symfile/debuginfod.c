// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/symfile/debuginfod.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/child/deadline.h"
#include "sym/child/supervisor.h"
#include "sym/util/array.h"
#include "sym/util/child.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"
#include "sym/util/invoker.h"
#include "sym/util/text.h"

#define COMMAND "debuginfod-find"

/* Whoever watches sees progress so often. */
#define TICK_MS 50

static const struct child_role role = {COMMAND, DEBUG_LOG_FILES};

/* Build IDs that are remembered; more are asked for again. */
#define ANSWERS_MAX 4096

struct debuginfod_answer {
	struct debug_id id;
	char *path; /* NULL: there is none */
};

/* The command while it runs. */
struct run {
	pid_t pid;
	int output;
	uint64_t began; /* ns */
	char path[PATH_MAX];
	size_t length;
};

static bool is_installed(void)
{
	const char *folder = getenv("PATH");
	char path[PATH_MAX];

	while (folder && *folder) {
		size_t length = strcspn(folder, ":");

		snprintf(path, sizeof(path), "%.*s/" COMMAND, (int)length, folder);
		if (access(path, X_OK) == 0)
			return true;
		folder += length + (folder[length] == ':');
	}
	return false;
}

int debuginfod__check(struct error *error)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!is_installed())
		return error__set(error, -ENOENT,
				  "--debuginfod: the command " COMMAND
				  " is not in PATH; install it "
				  "(Debian's package is debuginfod)");
	if (urls && urls[strspn(urls, " ")])
		return 0;
	return error__set(
		error, -ENOENT,
		"--debuginfod: DEBUGINFOD_URLS is not set, so no server is asked; set it, "
		"as in DEBUGINFOD_URLS=https://debuginfod.debian.net, and keep it with "
		"'sudo --preserve-env=DEBUGINFOD_URLS'");
}

void debuginfod__release(struct debuginfod *debuginfod)
{
	for (size_t i = 0; i < debuginfod->nr_answers; i++)
		free(debuginfod->answers[i].path);
	free(debuginfod->answers);
	*debuginfod = (struct debuginfod){0};
}

/* ---- time: it is shared with whoever watches, so that it outlives a child ---- */

static uint64_t waited_ms(const struct debuginfod *debuginfod)
{
	return debuginfod->supervisor ? debuginfod->supervisor->progress->server_ms :
					debuginfod->waited_ms;
}

static void note_waited(struct debuginfod *debuginfod, uint64_t ms)
{
	if (debuginfod->supervisor)
		supervisor__note_server(debuginfod->supervisor, ms);
	else
		debuginfod->waited_ms = ms;
}

/* ---- the command ---- */

/* It talks to servers: under sudo as the user behind that, with his cache. */
static bool become_invoker(void)
{
	struct invoker invoker;

	return !invoker__find(&invoker) || !invoker__become(&invoker);
}

/*
 * In the child: nothing of ours but the pipe reaches the command. It ends with us, even if
 * we are killed, which a change of user would make the kernel forget, and may end as it likes when
 * it is told to.
 */
static _Noreturn void exec_command(int output, pid_t parent, const char *id)
{
	const char *const arguments[] = {COMMAND, "debuginfo", id, NULL};
	int null = open("/dev/null", O_RDWR);

	/* The command would ignore what we ignore. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	if (!become_invoker())
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || null < 0 || dup2(null, 0) < 0 || dup2(output, 1) < 0 ||
	    dup2(null, 2) < 0)
		_exit(1);
	if (null > 2)
		close(null);
	execvp(COMMAND, (char *const *)arguments);
	_exit(1);
}

/* A descriptor that is none of the first three, which a child of ours may not have open. */
static int move_up(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	int err = -errno;

	close(fd);
	return moved < 0 ? err : moved;
}

static int start(struct run *run, const char *id)
{
	CLEANUP_CLOSE int input = -1;
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	run->output = move_up(ends[0]);
	input = move_up(ends[1]);
	if (run->output < 0 || input < 0)
		return run->output < 0 ? run->output : input;
	run->began = monotonic_now();
	run->pid = fork();
	if (run->pid == 0)
		exec_command(input, parent, id);
	child__note_start(&role, run->pid);
	return run->pid < 0 ? -errno : 0;
}

/* Read what it has printed by now. Returns 1 at its end, 0 if there may be more, or -E2BIG. */
static int read_output(struct run *run)
{
	struct pollfd pollfd = {.fd = run->output, .events = POLLIN};
	ssize_t got;

	if (poll(&pollfd, 1, TICK_MS) <= 0)
		return 0;
	if (run->length == sizeof(run->path))
		return -E2BIG;
	got = read(run->output, run->path + run->length, sizeof(run->path) - run->length);
	if (got <= 0)
		return 1;
	run->length += (size_t)got;
	return 0;
}

/*
 * Wait until it has closed its output and ended: 0 if its status says success. If SIGCHLD is
 * ignored here nobody can know the status: its output has to do.
 */
static int attend(struct debuginfod *debuginfod, struct run *run)
{
	uint64_t before = waited_ms(debuginfod);
	int closed = 0, status = 0;

	for (;;) {
		uint64_t waited = before + (monotonic_now() - run->began) / MILLISECONDS;

		note_waited(debuginfod, waited);
		if (waited >= DEBUGINFOD_MS)
			return -ETIME;
		if (!closed)
			closed = read_output(run);
		else
			poll(NULL, 0, 1);
		if (closed < 0)
			return closed;
		if (closed && waitpid(run->pid, &status, WNOHANG)) {
			child__note_end(&role, run->pid, 0);
			run->pid = 0;
			return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ENOENT;
		}
	}
}

/* why: as of child__note_end(). */
static void stop(struct run *run, int why)
{
	cleanup__close(&run->output);
	child__note_end(&role, run->pid, why);
	if (run->pid <= 0 || deadline__kill(run->pid, 0))
		return;
	while (waitpid(run->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Take the path from its output: one line with an absolute path. */
static int take_path(const struct run *run, char path[PATH_MAX])
{
	const char *end = memchr(run->path, '\n', run->length);
	size_t length = end ? (size_t)(end - run->path) : 0;

	if (!length || run->path[0] != '/' || memchr(run->path, '\0', length))
		return -ENOENT;
	memcpy(path, run->path, length);
	path[length] = '\0';
	return 0;
}

/* ---- what is asked for ---- */

static const struct debuginfod_answer *find_answer(const struct debuginfod *debuginfod,
						   const struct debug_id *id)
{
	for (size_t i = 0; i < debuginfod->nr_answers; i++) {
		const struct debuginfod_answer *answer = &debuginfod->answers[i];

		if (answer->id.size == id->size &&
		    !memcmp(answer->id.bytes, id->bytes, (size_t)id->size))
			return answer;
	}
	return NULL;
}

/* path: NULL if there is none. An answer without memory is asked for again. */
static void note_answer(struct debuginfod *debuginfod, const struct debug_id *id, const char *path)
{
	char *copy = path ? strdup(path) : NULL;

	if ((path && !copy) || debuginfod->nr_answers >= ANSWERS_MAX ||
	    ARRAY_GROW(debuginfod->answers, debuginfod->nr_answers, debuginfod->answers_capacity)) {
		free(copy);
		return;
	}
	debuginfod->answers[debuginfod->nr_answers++] =
		(struct debuginfod_answer){.id = *id, .path = copy};
}

static int ask(struct debuginfod *debuginfod, const struct debug_id *id, char path[PATH_MAX])
{
	struct run run = {.output = -1};
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	int err;

	text__hex(id->bytes, (size_t)id->size, hex);
	err = start(&run, hex);
	if (!err)
		err = attend(debuginfod, &run);
	stop(&run, err);
	return err ? err : take_path(&run, path);
}

int debuginfod__find(struct debuginfod *debuginfod, const struct debug_id *id, char path[PATH_MAX])
{
	const struct debuginfod_answer *known = find_answer(debuginfod, id);
	int err;

	if (id->size == 0 || (known && !known->path))
		return -ENOENT;
	if (known) {
		strcpy(path, known->path);
		return 0;
	}
	if (waited_ms(debuginfod) >= DEBUGINFOD_MS)
		return -ETIME;
	err = ask(debuginfod, id, path);
	/* Without time nobody knows if there is a file. */
	if (err != -ETIME)
		note_answer(debuginfod, id, err ? NULL : path);
	return err;
}
