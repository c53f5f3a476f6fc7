/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace: open, configure, load, attach, run, stop.
 *
 * The session knows when a trace ends: a signal, the time, the end of the named
 * processes or threads, or nobody left to read the output. Everything that it puts into
 * the kernel hangs on file descriptors, so nothing stays behind however the
 * program ends.
 */
#ifndef TRACEKIT_CORE_TRACE_SESSION_H
#define TRACEKIT_CORE_TRACE_SESSION_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct bpf_object;
struct cost;
struct error;
struct room;

struct session;
struct trace_config;
struct trace_maps;
struct trace_options;
struct unwinding;

/*
 * Takes over SIGINT and SIGTERM: the first of either makes session__stopping() true and ends
 * session__wait(); another one, 0.1 s later or more, kills. Checks that the processes and threads
 * of options exist. There can be one session at a time. options must outlive it. Returns 0 or a
 * negative errno with error filled.
 */
int session__open(struct session **session, const struct trace_options *options,
		  struct error *error);

/*
 * Between open and configure: the trace ends with this child of ours, and follows it from its next
 * exec() on, by which it becomes the file at the path program (borrowed). Returns 0 or a negative
 * errno with error filled.
 */
int session__set_workload(struct session *session, pid_t pid, const char *program,
			  struct error *error);

/* Before it is let go: wait until walks have what they need of it; see unwinding__await(). */
void session__await_tables(const struct session *session);

/*
 * Before it is let go: until it has ended, a signal from the keyboard, which it gets as well, does
 * not end the trace; one that is sent to us alone is passed on, and ends the trace only when it
 * comes once more.
 */
void session__pass_signals(struct session *session);

/* It has become what it is to be. */
void session__workload_runs(struct session *session);

/* It has ended, and its PID will be somebody else's. */
void session__workload_ended(struct session *session);

void session__close(struct session *session);
void session__closep(struct session **session);

/*
 * Between open and load of object: write the settings that all programs share
 * into config (its read-only data), and size its maps.
 */
int session__configure(struct session *session, struct bpf_object *object,
		       struct trace_config *config, struct error *error);

/*
 * Load object, and fill the maps that can only be filled now. The log of the kernel's verifier goes
 * to verifier_log, if that is not NULL.
 */
int session__load(struct session *session, struct bpf_object *object, FILE *verifier_log,
		  struct error *error);

/* The maps of the object, valid as long as it and the session are. */
const struct trace_maps *session__maps(const struct session *session);

/* How user stacks are walked, once it has been configured. */
struct unwinding *session__unwinding(const struct session *session);

const struct trace_options *session__options(const struct session *session);

/* How large its tables are, once it has been configured. */
const struct room *session__room(const struct session *session);

/* What the trace has cost by now, if options ask for statistics. */
void session__cost(const struct session *session, struct cost *cost);

/* True once a signal has asked for the end: long work looks here now and then. */
bool session__stopping(const struct session *session);

enum session_end {
	SESSION_SIGNALLED,
	SESSION_TIMEOUT,
	SESSION_TARGETS_GONE, /* all processes or threads of options, or the workload, have ended */
	SESSION_OUTPUT_CLOSED, /* the reader of stdout has gone */
	SESSION_READY,	       /* see session__watch() */
};

/*
 * Have session__wait() watch up to SESSION_WATCHED further descriptors: it returns SESSION_READY
 * when one of them is ready for its events. Descriptors of -1 are not looked at.
 */
#define SESSION_WATCHED 2
void session__watch(struct session *session, const struct pollfd watched[SESSION_WATCHED]);

/* Output goes elsewhere: the end of who reads stdout is not that of the trace. */
void session__ignore_stdout(struct session *session);

/* Sleep until the trace ends; timeout in nanoseconds; 0, or one that never comes: none. */
enum session_end session__wait(struct session *session, uint64_t timeout);

#endif
