// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/child.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

static void (*on_begin)(void);

void child__on_begin(void (*function)(void))
{
	on_begin = function;
}

void child__begin(const struct child_role *role)
{
	if (on_begin)
		on_begin();
	debug_log__set_role(role->name);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void child__note_start(const struct child_role *role, pid_t pid)
{
	if (pid > 0)
		debug_log__say(role->topic, "starts the %s %d", role->name, pid);
}

static const char *reason_of(int err)
{
	switch (err) {
	case -ETIMEDOUT:
		return "it waits for what does not answer";
	case -ETIME:
		return "it has taken too long";
	case -EPIPE:
		return "it has ended before it was done";
	case -EPROTO:
		return "it has sent nonsense";
	default:
		return strerror(-err);
	}
}

void child__note_end(const struct child_role *role, pid_t pid, int why)
{
	if (pid > 0 && why)
		debug_log__say(role->topic, "gives up the %s %d: %s", role->name, pid,
			       reason_of(why));
	else if (pid > 0)
		debug_log__say(role->topic, "the %s %d has ended", role->name, pid);
}
