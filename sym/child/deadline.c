// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/child/patience.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

#include "sym/child/proc_stat.h"
#include "sym/child/watched.h"

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void patience__renew(struct patience *patience, uint64_t milliseconds)
{
	patience->looked = now_ms();
	patience->deadline = patience->looked + milliseconds;
}

/*
 * Milliseconds since the last look. While we wait for somebody else, or are stopped, nobody takes
 * the child's answers, and it is not late.
 */
static uint64_t look(struct patience *patience)
{
	uint64_t now = now_ms(), passed = now - patience->looked;

	patience->looked = now;
	if (passed > 2 * LOOK_MS)
		patience->deadline += passed - LOOK_MS;
	return passed;
}

void patience__note_progress(struct patience *patience, const struct progress *shared)
{
	const volatile struct progress *progress = shared;

	patience->steps = progress->steps;
	patience->work = progress->work;
	patience->waited = 0;
	(void)look(patience);
	patience->deadline += progress->server_ms - patience->server_ms;
	patience->server_ms = progress->server_ms;
}

bool patience__is_runnable(pid_t pid)
{
	uint64_t start_time;
	char state;

	return proc_stat__read(pid, &state, &start_time) == 0 && state == 'R';
}

/*
 * A single look never shows that there is no progress, however long ago the last one was: we may
 * have been stopped, and the child with us.
 */
int patience__check(struct patience *patience, const struct progress *shared, pid_t child)
{
	const volatile struct progress *progress = shared;
	uint64_t passed;

	if (now_ms() - patience->looked < LOOK_MS)
		return patience->looked > patience->deadline ? -ETIME : 0;
	passed = look(patience);
	if (progress->server_ms == patience->server_ms && patience->looked > patience->deadline)
		return -ETIME;
	if (progress->steps != patience->steps || progress->work != patience->work) {
		patience__note_progress(patience, shared);
		return 0;
	}
	if (!patience__is_runnable(child))
		patience->waited += passed < PATIENCE_MS / 2 ? passed : PATIENCE_MS / 2;
	return patience->waited >= PATIENCE_MS && major(progress->device) == 0 ? -ETIMEDOUT : 0;
}

bool patience__await_end(pid_t child, int milliseconds, int *status)
{
	for (int waited = 0; waited < milliseconds; waited++) {
		if (waitpid(child, status, WNOHANG))
			return true;
		poll(NULL, 0, 1);
	}
	return false;
}

bool patience__kill(pid_t child, int milliseconds)
{
	/* A child that was reaped may have left its PID to another process. */
	if (waitpid(child, NULL, WNOHANG))
		return true;
	kill(child, SIGKILL);
	return patience__await_end(child, milliseconds, NULL);
}
