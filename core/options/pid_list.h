/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes, or threads, that a command line names. */
#ifndef TRACEKIT_CORE_OPTIONS_PID_LIST_H
#define TRACEKIT_CORE_OPTIONS_PID_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct pid_list {
	pid_t *pids; /* allocated, or NULL */
	size_t nr;
	bool children; /* what they, or a command, fork is meant as well: the kernel knows who that
			  is */
};

#endif
