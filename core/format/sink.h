/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where reports go: stdout, or files. A file appears under its name when all of it is on
 * the disk, or not at all; each report of an interval has a file of its own. What is no file (a
 * pipe, a device, a symbolic link) stays, and is written to from the first byte on.
 */
#ifndef TRACEKIT_CORE_FORMAT_SINK_H
#define TRACEKIT_CORE_FORMAT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

struct error;

/* NULL or "-". */
bool sink__is_stdout(const char *path);

/* stdout itself, or what it has been led to now. */
bool sink__shares_stdout(const char *path);

/*
 * Before the trace: reports can be written where a pattern (core/format/report_name.h), or "-", has
 * them. Returns 0, or a negative errno with error filled.
 */
int sink__check_place(const char *pattern, struct error *error);

/* A report that is being written. All zero is none. */
struct sink {
	FILE *out;
	char *path;	 /* its name; NULL: out is stdout */
	bool nameless;	 /* it has no name until it is complete */
	char *temporary; /* its name until then; NULL: it is nameless, or written in place */
};

/*
 * Begin what is to be in that file; in stdout if path is NULL, "-", or a link or a device that
 * leads to what stdout has. Returns 0, or a negative errno with
 * error filled; either way sink__release() is due, which removes a file that is not complete.
 */
int sink__open(struct sink *sink, const char *path, struct error *error);

/*
 * Begin report number (from 1) of that time, in a file whose name a pattern makes
 * (core/format/report_name.h), and which nothing has if the pattern has a time. Returns as above.
 */
int sink__open_report(struct sink *sink, const char *pattern, uint64_t number, time_t now,
		      struct error *error);

/*
 * All of it has been written to sink->out. Returns 0, or a negative errno with error filled, or
 * left empty as by output__failed().
 */
int sink__finish(struct sink *sink, struct error *error);
void sink__release(struct sink *sink);

#endif
