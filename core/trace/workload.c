// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/error.h"
#include "sym/util/invoker.h"

/* As of env(1): it cannot be executed; there is no such file. As a status of waitpid(2). */
#define CANNOT_RUN (126 << 8)
#define NOT_FOUND  (127 << 8)

/* What execvp(3) takes where PATH is not set. */
#define PATH_DEFAULT "/bin:/usr/bin"

static const int kept_signals[] = {SIGPIPE, SIGCHLD};
static bool is_ignored[ARRAY_SIZE(kept_signals)];
static sigset_t blocked;

void workload__keep_signals(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(kept_signals); i++) {
		struct sigaction action;

		is_ignored[i] = sigaction(kept_signals[i], NULL, &action) == 0 &&
				action.sa_handler == SIG_IGN;
	}
	sigprocmask(SIG_BLOCK, NULL, &blocked);
}

/* ---- is there such a program? ---- */

/* 0, or the errno with which exec() would fail, as far as a look at it tells. */
static int look_at(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) ? errno : 0;
}

/* The same code for a name in PATH; path: where it is. */
static int look_in_path(const char *name, char path[PATH_MAX])
{
	const char *folders = getenv("PATH");
	int found = ENOENT;

	folders = folders ? folders : PATH_DEFAULT;
	for (;;) {
		int length = (int)strcspn(folders, ":");
		int code = ENAMETOOLONG;

		/* An empty folder is the current one. */
		if (snprintf(path, PATH_MAX, "%.*s%s%s", length, folders, length ? "/" : "", name) <
		    PATH_MAX)
			code = look_at(path);
		if (code == 0)
			return 0;
		if (code == EACCES)
			found = EACCES;
		if (!folders[length])
			return found;
		folders += length + 1;
	}
}

static int find(const char *name, char path[PATH_MAX])
{
	if (!strchr(name, '/'))
		return look_in_path(name, path);
	snprintf(path, PATH_MAX, "%s", name);
	return look_at(name);
}

static int refused(const char *name, int code, struct error *error)
{
	bool missing = code == ENOENT && !strchr(name, '/');

	error__set(error, -code, "cannot run '%.200s': %s", name,
		   missing ? "it is in no folder of PATH" : strerror(code));
	return code == ENOENT || code == ENOTDIR ? NOT_FOUND : CANNOT_RUN;
}

/* ---- the child ---- */

static void restore_signals(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(kept_signals); i++)
		signal(kept_signals[i], is_ignored[i] ? SIG_IGN : SIG_DFL);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

_Noreturn static void be_child(int go, int failed, char *const command[],
			       const struct invoker *invoker)
{
	char byte;
	ssize_t got;

	do
		got = read(go, &byte, 1);
	while (got < 0 && errno == EINTR);
	/* The trace has not begun, and nobody waits for what this would do. */
	if (got != 1)
		_exit(0);
	restore_signals();
	if (!invoker || invoker__become(invoker) == 0)
		execvp(command[0], command);
	(void)!write(failed, &errno, sizeof(errno));
	_exit(127);
}

/* ---- the parent ---- */

static int cannot_fork(struct error *error)
{
	int code = -errno;

	return error__set(error, code, "cannot start a process for the command: %s",
			  strerror(-code));
}

static void close_pipe(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

int workload__hold(struct workload *workload, char *const command[], bool as_root,
		   struct error *error)
{
	static struct invoker invoker;
	bool by_sudo = !as_root && invoker__find(&invoker);
	char path[PATH_MAX];
	int go[2], failed[2], code = find(command[0], path);
	pid_t pid;

	if (code)
		return refused(command[0], code, error);
	if (pipe2(go, O_CLOEXEC))
		return cannot_fork(error);
	if (pipe2(failed, O_CLOEXEC)) {
		close_pipe(go);
		return cannot_fork(error);
	}
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		close(failed[0]);
		be_child(go[0], failed[1], command, by_sudo ? &invoker : NULL);
	}
	close(go[0]);
	close(failed[1]);
	*workload =
		(struct workload){.pid = pid, .go = go[1], .failed = failed[0], .name = command[0]};
	memcpy(workload->path, path, sizeof(path));
	if (pid > 0)
		return 0;
	code = cannot_fork(error);
	close(go[1]);
	close(failed[0]);
	*workload = (struct workload){0};
	return code;
}

int workload__let_go(struct workload *workload, struct error *error)
{
	int code = 0;
	ssize_t got;

	workload->runs = true;
	if (write(workload->go, "", 1) != 1)
		return error__set(error, -ESRCH, "'%.200s' was killed before it began",
				  workload->name);
	do
		got = read(workload->failed, &code, sizeof(code));
	while (got < 0 && errno == EINTR);
	return got == sizeof(code) ? refused(workload->name, code, error) : 0;
}

void workload__wait(const struct workload *workload)
{
	siginfo_t info;

	if (workload->pid && workload->runs)
		while (waitid(P_PID, (id_t)workload->pid, &info, WEXITED | WNOWAIT) &&
		       errno == EINTR)
			;
}

int workload__end(struct workload *workload)
{
	pid_t ended;

	if (!workload->pid)
		return workload->status;
	/* It can have no end of file while a child of ours has the pipe as well. */
	if (!workload->runs)
		kill(workload->pid, SIGKILL);
	close(workload->go);
	close(workload->failed);
	do
		ended = waitpid(workload->pid, &workload->status, 0);
	while (ended < 0 && errno == EINTR);
	if (!workload->runs && workload->status == SIGKILL)
		workload->status = SIGTERM;
	workload->pid = 0;
	return workload->status;
}
