/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a pattern to attached programs: what applets that trace events share. */
#ifndef TRACEKIT_CORE_PROBE_PROBES_H
#define TRACEKIT_CORE_PROBE_PROBES_H

#include <stdbool.h>
#include <stdio.h>

#include "core/options/options.h"
#include "core/probe/attach.h"
#include "core/probe/probespec.h"
#include "core/probe/targets.h"

struct bpf_object;
struct error;
struct trace_options;
struct session;
struct trace_config;

struct probe_options {
	const char *pattern;
	bool regexp;
	bool list;
	bool debug;
};

/* The rows, for an applet whose settings hold a struct probe_options called probe. */
#define PROBE_OPTION_(settings, field) offsetof(settings, probe.field)
/* clang-format off */
#define PROBE_OPTION_ROWS(settings)                                                              \
	{.value = "pattern", .type = OPTION_TEXT, .required = true,                              \
	 .offset = PROBE_OPTION_(settings, pattern),                                             \
	 .help = "what to trace: FUNCTION of the kernel, FILE:FUNCTION of a program or library, " \
		 "t:CATEGORY:EVENT, u:FILE:PROBE; all but FILE can have wildcards: * ? []"},     \
	{.letter = 'r', .name = "regexp", .type = OPTION_FLAG,                                   \
	 .group = GROUP_TRACED, .offset = PROBE_OPTION_(settings, regexp),                       \
	 .help = "the last part of the pattern is a regular expression (POSIX, extended)"},      \
	{.letter = 'l', .name = "list", .type = OPTION_FLAG,                                     \
	 .group = GROUP_TRACED, .offset = PROBE_OPTION_(settings, list),                         \
	 .help = "print what the pattern matches, and leave"},                                   \
	{.name = "debug", .type = OPTION_FLAG,                                                   \
	 .offset = PROBE_OPTION_(settings, debug),                                               \
	 .help = "print what the kernel's verifier says about the BPF programs on stderr"}
/* clang-format on */

/* Check the pattern, and that -l runs no command. Returns 0, or -EINVAL or -ENOMEM with error
 * filled. */
int probe_options__check(const struct probe_options *options, const struct trace_options *trace,
			 struct error *error);

/* All zero is nothing. */
struct probes {
	struct probespec spec;
	struct target_list targets;
	struct attachment *attachment; /* NULL: nothing is to be attached */
};

/*
 * Find what the pattern matches, in the files of pids if there are any, and choose how
 * to attach to it: in these processes, or also in others, their children. options and pids are
 * borrowed. Returns 0 or a negative errno with error filled; either way probes__release() is due.
 */
int probes__find(struct probes *probes, const struct probe_options *options,
		 const struct pid_list *pids, bool children, struct error *error);

/*
 * Load the object with the programs that are needed, after session__configure(). Its settings must
 * be complete, except those for attaching. Returns 0 or a negative errno with error filled.
 */
int probes__load(struct probes *probes, const struct probe_options *options,
		 struct session *session, struct bpf_object *object, struct trace_config *config,
		 struct error *error);

/* Detaches. */
void probes__release(struct probes *probes);

/*
 * Say on stderr what was matched and is not traced, and why; verbose: each by its name. Applets
 * call it when all is attached.
 */
void probes__say_what_is_left_out(const struct probes *probes, bool verbose);

/* Say on stderr where USDT probes have not been seen; when the trace has ended. */
void probes__say_what_was_not_watched(const struct probes *probes);

/*
 * -l: print what the pattern matches, one on a line; each line is a pattern. Errors of writing stay
 * in out. Returns 0 or a negative errno with error filled.
 */
int probes__list(const struct probe_options *options, const struct pid_list *pids, FILE *out,
		 struct error *error);

#endif
