/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where reports are written, and in which format: as fields, and as rows for tables of options. */
#ifndef TRACEKIT_CORE_FORMAT_SINK_OPTIONS_H
#define TRACEKIT_CORE_FORMAT_SINK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/format/format.h"
#include "core/options/options.h"

struct error;
struct trace_options;

struct sink_options {
	struct path_list paths; /* each as in core/format/report_name.h, or "-": stdout; or none */
	bool merge;		/* all processes in one profile */
	size_t format;		/* enum format_number, or FORMAT_NOT_GIVEN */
	size_t labels;		/* enum text_labels */
	uint64_t max_samples;	/* of pprof; 0: no limit */
	uint64_t spool_max;	/* bytes of the reports of each path; 0: no limit */
};

#define FORMAT_NOT_GIVEN ((size_t)-1)

/* By enum text_labels; they end with NULL. */
extern const char *const label_names[];

#define SINK_OPTIONS_DEFAULTS                                                                      \
	{                                                                                          \
		.format = FORMAT_NOT_GIVEN,                                                        \
	}

/* The rows, for an applet whose settings hold a struct sink_options called sink. */
#define SINK_OPTION_(settings, field) offsetof(settings, sink.field)
/* clang-format off */
#define SINK_OPTION_ROWS(settings)                                                               \
	{.letter = 'o', .name = "output", .value = "FILE", .type = OPTION_PATHS,                 \
	 .group = GROUP_OUTPUT, .offset = SINK_OPTION_(settings, paths),                         \
	 .help = "write to FILE, in place of what is there, in the format that its name says; "  \
		 "%n in it is the number of the report, %t the time; may be repeated"},          \
	{.name = "spool-max", .value = "SIZE", .type = OPTION_SIZE,                              \
	 .group = GROUP_OUTPUT, .offset = SINK_OPTION_(settings, spool_max),                     \
	 .min = 1, .max = INT64_MAX,                                                             \
	 .help = "remove the oldest reports of -o when there are more bytes than that"},         \
	{.name = "format", .value = "FORMAT", .type = OPTION_CHOICE,                             \
	 .group = GROUP_OUTPUT, .offset = SINK_OPTION_(settings, format),                        \
	 .choices = format_names,                                                                \
	 .help = "how stacks are written: text (default), folded (as -f), svg, html, pprof, "    \
		 "speedscope or json"},                                                          \
	{.name = "labels", .value = "LABELS", .type = OPTION_CHOICE,                             \
	 .group = GROUP_OUTPUT, .offset = SINK_OPTION_(settings, labels),                        \
	 .choices = label_names,                                                                 \
	 .help = "labels of text in pprof: comm,container (default), comm, container or none"},  \
	{.name = "max-samples", .value = "N", .type = OPTION_NUMBER,                             \
	 .group = GROUP_OUTPUT, .offset = SINK_OPTION_(settings, max_samples),                   \
	 .min = 1, .max = INT64_MAX,                                                             \
	 .help = "in pprof, so many samples at most: the rarest stacks become [other]"},         \
	{.name = "merge", .type = OPTION_FLAG,                                                   \
	 .group = GROUP_OUTPUT, .offset = SINK_OPTION_(settings, merge),                         \
	 .help = "with --format speedscope: all processes in one profile"}
/* clang-format on */

/*
 * -f and --format agree, the name of the file says a format if nothing else does, and is one for
 * each interval. Returns 0, or -EINVAL with error filled.
 */
int sink_options__check(const struct sink_options *options, const struct trace_options *trace,
			struct error *error);

/*
 * Of options that have been checked: how many outputs there are, one at least, and the path (NULL
 * or "-": stdout) and the format of one of them.
 */
size_t sink_options__nr(const struct sink_options *options);
const char *sink_options__path(const struct sink_options *options, size_t i);
enum format_number sink_options__format(const struct sink_options *options,
					const struct trace_options *trace, size_t i);

/* One of them is stdout. */
bool sink_options__have_stdout(const struct sink_options *options);

/* One of them has that format. */
bool sink_options__have_format(const struct sink_options *options,
			       const struct trace_options *trace, enum format_number format);

#endif
