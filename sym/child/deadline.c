// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/child/deadline.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

#include "sym/child/proc_stat.h"
#include "sym/child/supervisor.h"

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void deadline__renew(struct deadline *deadline, uint64_t milliseconds)
{
	deadline->looked = now_ms();
	deadline->end = deadline->looked + milliseconds;
}

/*
 * Milliseconds since the last look. While we wait for somebody else, or are stopped, nobody takes
 * the child's answers, and it is not late.
 */
static uint64_t look(struct deadline *deadline)
{
	uint64_t now = now_ms(), passed = now - deadline->looked;

	deadline->looked = now;
	if (passed > 2 * LOOK_MS)
		deadline->end += passed - LOOK_MS;
	return passed;
}

void deadline__note_progress(struct deadline *deadline, const struct progress *shared)
{
	const volatile struct progress *progress = shared;

	deadline->steps = progress->steps;
	deadline->work = progress->work;
	deadline->waited = 0;
	(void)look(deadline);
	deadline->end += progress->server_ms - deadline->server_ms;
	deadline->server_ms = progress->server_ms;
}

/* True if a child is running, or would be if there were a CPU for it. */
static bool is_runnable(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat__read(pid, &stat) == 0 && stat.state == 'R';
}

/*
 * A single look never shows that there is no progress, however long ago the last one was: we may
 * have been stopped, and the child with us.
 */
int deadline__check(struct deadline *deadline, const struct progress *shared, pid_t child)
{
	const volatile struct progress *progress = shared;
	uint64_t passed;

	if (now_ms() - deadline->looked < LOOK_MS)
		return deadline->looked > deadline->end ? -ETIME : 0;
	passed = look(deadline);
	if (progress->server_ms == deadline->server_ms && deadline->looked > deadline->end)
		return -ETIME;
	if (progress->steps != deadline->steps || progress->work != deadline->work) {
		deadline__note_progress(deadline, shared);
		return 0;
	}
	if (!is_runnable(child))
		deadline->waited += passed < SILENCE_MS / 2 ? passed : SILENCE_MS / 2;
	return deadline->waited >= SILENCE_MS && major(progress->device) == 0 ? -ETIMEDOUT : 0;
}

bool deadline__await_end(pid_t child, int milliseconds, int *status)
{
	for (int waited = 0; waited < milliseconds; waited++) {
		if (waitpid(child, status, WNOHANG))
			return true;
		poll(NULL, 0, 1);
	}
	return false;
}

bool deadline__kill(pid_t child, int milliseconds)
{
	/* A child that was reaped may have left its PID to another process. */
	if (waitpid(child, NULL, WNOHANG))
		return true;
	kill(child, SIGKILL);
	return deadline__await_end(child, milliseconds, NULL);
}
