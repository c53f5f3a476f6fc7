/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command that is traced from its first instruction. It is forked before this program changes
 * itself, and held until the trace has begun: it reads a pipe, so nothing is different for it
 * afterwards, and if this program dies it ends. A second pipe, which exec() closes, says how that
 * went.
 */
#ifndef TRACEKIT_CORE_TRACE_WORKLOAD_H
#define TRACEKIT_CORE_TRACE_WORKLOAD_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct error;

/* All zero is none. */
struct workload {
	pid_t pid;  /* 0: there is none, or it has been waited for */
	int go;	    /* a byte lets it go, the end of file ends it */
	int failed; /* it says by an errno that exec() has failed */
	int status; /* as of waitpid(2) */
	bool runs;  /* it has been let go */
	const char *name;
	char path[PATH_MAX]; /* of its file */
};

/*
 * First of all: a command is to have SIGPIPE and SIGCHLD, and the signals that are blocked, as they
 * are now, whatever becomes of them here.
 */
void workload__keep_signals(void);

/*
 * Fork what is to become command, which ends with NULL; as_root: also under sudo, where it is
 * otherwise the user's who called that. The command is looked up in PATH. Returns 0; or, with error
 * filled, a negative errno, or a status as of waitpid(2), with the 126 or 127 of env(1), if there
 * is no such program. workload__end() is due if this returns 0.
 */
int workload__hold(struct workload *workload, char *const command[], bool as_root,
		   struct error *error);

/* Let it go, and wait until it is the program. Returns as workload__hold(). */
int workload__let_go(struct workload *workload, struct error *error);

/* If it has been let go, wait for its end; its PID stays its own until workload__end(). */
void workload__wait(const struct workload *workload);

/*
 * The same, or end it; then its PID is free. Returns its status as of waitpid(2): one that has not
 * been let go was ended by SIGTERM, or by what has come before. May be called again.
 */
int workload__end(struct workload *workload);

#endif
