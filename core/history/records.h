/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes do, as it happens: forks, program starts and executable mappings, from
 * perf events of every CPU that count nothing. Format: perf_event_open(2), PERF_RECORD_FORK,
 * _COMM with PERF_RECORD_MISC_COMM_EXEC, and _MMAP2.
 */
#ifndef TRACEKIT_CORE_HISTORY_RECORDS_H
#define TRACEKIT_CORE_HISTORY_RECORDS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sym/types.h"

struct error;
struct pid_list;
struct process_records;

enum process_deed {
	PROCESS_FORKED,
	PROCESS_EXECUTED, /* another program */
	PROCESS_MAPPED,
	PROCESS_ENDED,	 /* its first thread has */
	PROCESS_UNKNOWN, /* records of any process are missing between since and time */
};

struct process_record {
	enum process_deed deed;
	uint64_t time;	/* CLOCK_MONOTONIC of the kernel */
	pid_t pid;	/* in the caller's PID namespace */
	pid_t parent;	/* of PROCESS_FORKED */
	uint64_t since; /* of PROCESS_UNKNOWN */
	struct sym_mapping mapping;
	uint64_t generation; /* of its inode, whose number can be another file's later */
	uint64_t number;     /* as they were read */
};

/* Whether it may be about one of these processes, or of their children; where there are none, all
 * are meant. */
bool process_record__is_of(const struct process_record *record, const struct pid_list *pids);

/*
 * wakeup: process_records__poll() is ready when so many bytes have been written by one CPU; the
 * start of a program is at least PROCESS_RECORDS_START, and at most PROCESS_RECORDS_MUCH fits
 * in four times. Returns 0 or a negative errno with error filled.
 */
#define PROCESS_RECORDS_START 256
#define PROCESS_RECORDS_MUCH  ((uint32_t)16 * 1024)
int process_records__open(struct process_records **records, uint32_t wakeup, struct error *error);
void process_records__close(struct process_records *records);

/*
 * Take what the kernel has written by now. Never waits. It should not be left alone for long:
 * records that find no room are lost, and PROCESS_UNKNOWN as soon as there is room again.
 * Returns 0, or -ENOMEM: what is left is taken the next time.
 */
int process_records__read(struct process_records *records);

/*
 * The next record in the order of time, if it is not later than until; or NULL. Valid until
 * process_records__read().
 */
const struct process_record *process_records__next(struct process_records *records, uint64_t until);

/* Whether there are any that have been read, and are later than what was asked for. */
bool process_records__has_later(const struct process_records *records);

/* Whether one of those that are still to come says that pid is another program, or process. */
bool process_records__replace(const struct process_records *records, pid_t pid);

/* Ready when so much has come together; the descriptor is the caller's to poll only. */
struct pollfd process_records__poll(const struct process_records *records);

#endif
