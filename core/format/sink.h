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

#include "core/format/format.h"
#include "core/options/options.h"

struct error;
struct trace_options;

struct sink_options {
	const char *path; /* with %t and %n in it; NULL or "-": stdout */
	bool merge;	  /* all processes in one profile */
	size_t format;	  /* enum format_number, or FORMAT_NOT_GIVEN */
};

#define FORMAT_NOT_GIVEN ((size_t)-1)

#define SINK_OPTIONS_DEFAULTS                                                                      \
	{                                                                                          \
		.format = FORMAT_NOT_GIVEN,                                                        \
	}

/* The rows, for an applet whose settings hold a struct sink_options called sink. */
#define SINK_OPTION_(settings, field) offsetof(settings, sink.field)
/* clang-format off */
#define SINK_OPTION_ROWS(settings)                                                               \
	{.letter = 'o', .name = "output", .value = "FILE", .type = OPTION_PATH,                  \
	 .offset = SINK_OPTION_(settings, path),                                                 \
	 .help = "write to FILE, whose name says the format; %n in it is the number of the " \
		 "report, %t the time"},                                                         \
	{.name = "format", .value = "FORMAT", .type = OPTION_CHOICE,                             \
	 .offset = SINK_OPTION_(settings, format), .choices = format_names,                      \
	 .help = "how stacks are written: text (default), folded (as -f), svg, html, pprof, "                \
		 "speedscope or json"},                                                                  \
	{.name = "merge", .type = OPTION_FLAG,                                                   \
	 .offset = SINK_OPTION_(settings, merge),                                                \
	 .help = "with --format speedscope: all processes in one profile"}
/* clang-format on */

/*
 * -f and --format agree, the name of the file says a format if nothing else does, and is one for
 * each interval. Returns 0, or -EINVAL with error filled.
 */
int sink_options__check(const struct sink_options *options, const struct trace_options *trace,
			struct error *error);

/* Of options that have been checked. */
enum format_number sink_options__format(const struct sink_options *options,
					const struct trace_options *trace);
bool sink_options__is_stdout(const struct sink_options *options);

/* stdout itself, or what it has been led to now. */
bool sink__shares_stdout(const char *path);

/*
 * Before the trace: files can be made where they are to be. Returns 0, or a negative errno with
 * error filled.
 */
int sink_options__check_place(const struct sink_options *options, struct error *error);

/* A report that is being written. All zero is none. */
struct sink {
	FILE *out;
	char *path;	 /* its name; NULL: out is stdout */
	char *temporary; /* its name until it is complete; NULL: it is written in place */
};

/*
 * Begin what is to be in that file; in stdout if path is NULL, "-", or a link or a device that
 * leads to what stdout has. Returns 0, or a negative errno with
 * error filled; either way sink__release() is due, which removes a file that is not complete.
 */
int sink__open(struct sink *sink, const char *path, struct error *error);

/* The same for report number (from 1), which is of that time. */
int sink__open_report(struct sink *sink, const struct sink_options *options, uint64_t number,
		      time_t now, struct error *error);

/*
 * All of it has been written to sink->out. Returns 0, or a negative errno with error filled, or
 * left empty as by output__failed().
 */
int sink__finish(struct sink *sink, struct error *error);
void sink__release(struct sink *sink);

#endif
