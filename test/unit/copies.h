/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of a test program, for what has to be another process. */
#ifndef TRACEKIT_TEST_UNIT_COPIES_H
#define TRACEKIT_TEST_UNIT_COPIES_H

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/unit/tap.h"

/* Sleeps until it is killed. */
static inline pid_t start_copy(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	CHECK(pid > 0);
	return pid;
}

static inline void end_copy(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
}

#endif
