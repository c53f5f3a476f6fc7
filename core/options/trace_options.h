/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options that all applets share, as fields and as rows for their tables. */
#ifndef TRACEKIT_CORE_OPTIONS_TRACE_OPTIONS_H
#define TRACEKIT_CORE_OPTIONS_TRACE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bpf/abi.h"
#include "core/options/options.h"
#include "core/options/pid_list.h"
#include "sym/types.h"

struct error;

/* How user stacks are walked; unwind_methods has the words. */
enum unwind_method {
	UNWIND_AUTO,  /* DWARF if a program can read all registers, else FRAME_POINTERS */
	UNWIND_DWARF, /* by call-frame information */
	UNWIND_FRAME_POINTERS,
	UNWIND_OFF, /* not at all: only where the thread is */
};

extern const char *const unwind_methods[];

/* Where functions without a name are told apart by where they begin; unnamed_forms has the words.
 */
enum unnamed_form {
	UNNAMED_AUTO,  /* in pictures and forms for programs: starts of struct format */
	UNNAMED_START, /* in all forms of output */
	UNNAMED_OFF,   /* in none */
};

extern const char *const unnamed_forms[];

/* Bytes of tables that may be loaded; the minimum is one map of shards. */
#define UNWIND_MEMORY_MIN     ((uint64_t)1024 * 1024)
#define UNWIND_MEMORY_MAX     ((uint64_t)1024 * 1024 * 1024)
#define UNWIND_MEMORY_DEFAULT ((uint64_t)64 * 1024 * 1024)

struct trace_options {
	struct pid_list pids;  /* empty: all processes */
	struct pid_list tids;  /* threads; one of the two lists is empty */
	char tids_letter;      /* of their option */
	const char *cgroupmap; /* path of a pinned map, or NULL */
	const char *mntnsmap;  /* of another one, or NULL */
	const char *cgroup;    /* path of a cgroup, or NULL */
	const char *container; /* how the ID of a container begins, or NULL */
	const char *comm;      /* glob for names of threads, or NULL */
	char *const *command;  /* to run and to trace, ends with NULL; or NULL */
	bool as_root;	       /* also where sudo(8) has been called by another user */
	bool linger;	       /* until the last of their children has ended */
	bool self;	       /* our own processes, too */
	bool children;	       /* of pids, too, as of the start of the trace */
	bool kernel_stacks_only;
	bool user_stacks_only;
	bool delimited;
	bool folded;
	bool offsets;
	bool verbose;
	bool containers; /* text shows the container of each process */
	struct sym_settings names;
	size_t unnamed; /* enum unnamed_form */
	bool stats;
	bool threads;		     /* each is counted and shown by itself */
	bool shares;		     /* text has the share of each block, and the sum of all */
	bool quiet;		     /* no lines on stderr that nothing is wrong without */
	uint64_t interval;	     /* nanoseconds from report to report; 0: one at the end */
	uint64_t duration;	     /* nanoseconds; 0: until a signal */
	bool bare_duration;	     /* a whole number without a unit, as a PID is */
	uint64_t hash_storage_size;  /* keys; 0: what memory has room for */
	uint64_t stack_storage_size; /* stacks; so, too */
	uint64_t max_depth;	     /* frames of a stack */
	size_t unwind;		     /* enum unwind_method */
	uint64_t unwind_memory;	     /* bytes; so, too */
};

#define TRACE_OPTIONS_DEFAULTS TRACE_OPTIONS_DEFAULTS_TIDS('L')

/* For applets with another letter for the option of TIDs. */
#define TRACE_OPTIONS_DEFAULTS_TIDS(letter)                                                        \
	{                                                                                          \
		.max_depth = MAX_FRAMES, .tids_letter = letter,                                    \
	}

/* Far above what anyone needs, far below what the kernel's own arithmetic takes. */
#define STORAGE_SIZE_MAX (16 * 1024 * 1024)

/*
 * The rows, for an applet whose settings hold a struct trace_options called trace. The other
 * arguments are help texts that differ between applets.
 */
#define TRACE_OPTION_(settings, field) offsetof(settings, trace.field)
/* clang-format off */
#define TRACE_OPTION_ROWS(settings, delimited_help, verbose_help)                                \
	{.letter = 'p', .name = "pid", .value = "PID[,PID...]", .type = OPTION_PIDS,             \
	 .group = GROUP_TRACED, .offset = TRACE_OPTION_(settings, pids),                         \
	 .help = "only these processes; the trace ends when all of them have ended"},            \
	{.name = "children", .type = OPTION_FLAG,                                                \
	 .group = GROUP_TRACED, .offset = TRACE_OPTION_(settings, children),                     \
	 .help = "with -p: also the processes that these start from now on, and theirs"},        \
	{.name = "as-root", .type = OPTION_FLAG,                                                 \
	 .group = GROUP_TRACED, .offset = TRACE_OPTION_(settings, as_root),                      \
	 .help = "run COMMAND as root, not as the user who has called sudo"},                    \
	{.name = "linger", .type = OPTION_FLAG,                                                  \
	 .group = GROUP_TIME, .offset = TRACE_OPTION_(settings, linger),                         \
	 .help = "with COMMAND or --children: trace until the last of these has ended"},         \
	{.name = "comm", .value = "NAME", .type = OPTION_TEXT,                                   \
	 .group = GROUP_TRACED, .offset = TRACE_OPTION_(settings, comm),                         \
	 .help = "only threads of this name, which may have * and ? in it"},                     \
	{.name = "cgroup", .value = "PATH", .type = OPTION_PATH,                                 \
	 .group = GROUP_TRACED, .offset = TRACE_OPTION_(settings, cgroup),                       \
	 .help = "only processes in this cgroup (version 2), a path or a name as in "            \
		 "/proc/PID/cgroup, and those below it"},                                        \
	{.name = "container", .value = "ID", .type = OPTION_TEXT,                                \
	 .group = GROUP_TRACED, .offset = TRACE_OPTION_(settings, container),                    \
	 .help = "only processes in the container whose ID begins with ID"},                     \
	{.name = "cgroupmap", .value = "PATH", .type = OPTION_PATH,                              \
	 .group = GROUP_TRACED, .offset = TRACE_OPTION_(settings, cgroupmap),                    \
	 .help = "only the cgroups whose IDs are keys of the BPF hash map pinned at PATH"},      \
	{.name = "mntnsmap", .value = "PATH", .type = OPTION_PATH,                               \
	 .group = GROUP_TRACED, .offset = TRACE_OPTION_(settings, mntnsmap),                     \
	 .help = "only the mount namespaces whose inodes are keys of the map pinned at PATH"},   \
	{.name = "self", .type = OPTION_FLAG,                                                    \
	 .group = GROUP_TRACED, .offset = TRACE_OPTION_(settings, self),                         \
	 .help = "also what tracekit does itself for this trace"},                               \
	{.letter = 'U', .name = "user-stacks-only", .type = OPTION_FLAG,                         \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, user_stacks_only),              \
	 .help = "only user stacks, no kernel stacks"},                                          \
	{.letter = 'K', .name = "kernel-stacks-only", .type = OPTION_FLAG,                       \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, kernel_stacks_only),            \
	 .help = "only kernel stacks, no user stacks"},                                          \
	{.letter = 'd', .name = "delimited", .type = OPTION_FLAG,                                \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, delimited),                     \
	 .help = delimited_help},                                                                \
	{.letter = 'f', .name = "folded", .type = OPTION_FLAG,                                   \
	 .group = GROUP_OUTPUT, .offset = TRACE_OPTION_(settings, folded),                       \
	 .help = "one line per stack, for flame graphs"},                                        \
	{.letter = 's', .name = "offset", .type = OPTION_FLAG,                                   \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, offsets),                       \
	 .help = "show the offset of each address within its function"},                         \
	{.letter = 'v', .name = "verbose", .type = OPTION_FLAG,                                  \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, verbose),                       \
	 .help = verbose_help},                                                                  \
	{.name = "show-containers", .type = OPTION_FLAG,                                         \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, containers),                    \
	 .help = "in text: show the container that each process is in"},                         \
	{.name = "no-demangle", .type = OPTION_FLAG,                                             \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, names.mangled),                 \
	 .help = "show the names of C++ and Rust functions as they stand in their files"},       \
	{.name = "inline", .type = OPTION_FLAG,                                                  \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, names.inlined),                 \
	 .help = "show calls that were inlined, of programs with debug data"},                   \
	{.name = "lines", .type = OPTION_FLAG,                                                   \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, names.lines),                   \
	 .help = "show source files and lines, of programs with debug data"},                    \
	{.name = "unnamed", .value = "FORM", .type = OPTION_CHOICE,                              \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, unnamed),                       \
	 .choices = unnamed_forms,                                                               \
	 .help = "tell functions without a name apart by where they begin: auto (default), start " \
		 "or off"},                                                                      \
	{.name = "symfs", .value = "DIR", .type = OPTION_PATH,                                   \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, names.symfs),                   \
	 .help = "look for symbols and debug data below this folder first"},                     \
	{.name = "debuginfod", .type = OPTION_FLAG,                                              \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, names.debuginfod),              \
	 .help = "ask the servers of DEBUGINFOD_URLS for symbols and debug data"},               \
	{.name = "stack-storage-size", .value = "N", .type = OPTION_NUMBER,                      \
	 .group = GROUP_LIMITS, .offset = TRACE_OPTION_(settings, stack_storage_size),           \
	 .min = 1, .max = STORAGE_SIZE_MAX,                                                      \
	 .help = "how many distinct stacks can be stored (default 16384)"},                      \
	{.name = "unwind", .value = "METHOD", .type = OPTION_CHOICE,                             \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, unwind),                       \
	 .choices = unwind_methods,                                                              \
	 .help = "how user stacks are walked: auto (default), dwarf, fp or off"},                \
	{.name = "unwind-memory", .value = "SIZE", .type = OPTION_SIZE,                          \
	 .group = GROUP_LIMITS, .offset = TRACE_OPTION_(settings, unwind_memory),                \
	 .min = UNWIND_MEMORY_MIN, .max = UNWIND_MEMORY_MAX,                                     \
	 .help = "how much call-frame information may be loaded (default 64M)"},                 \
	{.name = "max-depth", .value = "N", .type = OPTION_NUMBER,                               \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, max_depth),                     \
	 .min = 1, .max = MAX_FRAMES,                                                            \
	 .help = "show so many frames of a stack at most (default 575)"},                        \
	{.name = "stats", .type = OPTION_FLAG,                                                   \
	 .offset = TRACE_OPTION_(settings, stats),                                               \
	 .help = "say on stderr what became of every event, and what the trace cost"},            \
	{.letter = 'q', .name = "quiet", .type = OPTION_FLAG,                                    \
	 .offset = TRACE_OPTION_(settings, quiet),                                               \
	 .help = "no progress, summary or hint on stderr"}

/* The duration of the trace, for applets whose positional argument is a pattern. */
#define DURATION_OPTION_ROW(settings)                                                            \
	{.letter = 'D', .name = "duration", .value = "DURATION", .type = OPTION_SECONDS,         \
	 .group = GROUP_TIME, .offset = TRACE_OPTION_(settings, duration),                       \
	 .help = "how long to trace, in seconds (default: until Ctrl-C)"}

/* Reports at intervals. */
#define INTERVAL_OPTION_ROW(settings)                                                            \
	{.letter = 'i', .name = "interval", .value = "INTERVAL", .type = OPTION_SECONDS,         \
	 .group = GROUP_TIME, .offset = TRACE_OPTION_(settings, interval),                       \
	 .help = "report, and count anew, every so many seconds"}

#define DELIMITED_HELP "put a delimiter between kernel and user stacks"
#define VERBOSE_HELP                                                                             \
	"show addresses, the modules of kernel functions, and the files of what has no name"

/* The rows of applets that count in tables. */
#define TABLE_OPTION_ROWS(settings)                                                              \
	{.name = "hash-storage-size", .value = "N", .type = OPTION_NUMBER,                       \
	 .group = GROUP_LIMITS, .offset = TRACE_OPTION_(settings, hash_storage_size),            \
	 .min = 1, .max = STORAGE_SIZE_MAX,                                                      \
	 .help = "how many distinct keys (process and stacks) can be counted (default 40960)"},  \
	{.name = "threads", .type = OPTION_FLAG,                                                 \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, threads),                       \
	 .help = "show each thread by itself, as PID/TID"},                                      \
	{.name = "shares", .type = OPTION_FLAG,                                                  \
	 .group = GROUP_SHOWN, .offset = TRACE_OPTION_(settings, shares),                        \
	 .help = "in text: the share of each block in per cent, and at the end the total"}
/* clang-format on */

/* The IDs of processes or threads that the trace is limited to; empty: no limit. */
const struct pid_list *trace_options__ids(const struct trace_options *options);

/* How bcc's tools write the IDs that a trace is limited to: "PID [1, 2]", or "PIDs 1,2". */
struct id_style {
	const char *processes, *threads; /* before the first */
	const char *separator, *end;
};

/* Print whose stacks, and which: "PID [1, 2] by user stack". all: the words for no limit. */
void trace_options__print_whose(const struct trace_options *options, const char *all,
				const struct id_style *style, FILE *out);

/*
 * For applets whose positional argument is the duration: behind -p and one PID it is easily the PID
 * of another process, unless it has a unit. Returns 0, or -EINVAL with error filled.
 */
int trace_options__check_duration(const struct trace_options *options, struct error *error);

/* Print how long, and end the line: " for 5 secs.\n". */
void trace_options__print_duration(const struct trace_options *options, FILE *out);

/*
 * The processes that the trace is limited to, also through their threads; empty: no limit. The
 * caller frees pids->pids. Returns 0 or -ENOMEM.
 */
int trace_options__processes(const struct trace_options *options, struct pid_list *pids);

/*
 * Functions without a name are told apart in a form of output; by_itself: in this one unless the
 * user says otherwise.
 */
bool trace_options__tell_unnamed(const struct trace_options *options, bool by_itself);

/*
 * Check what the table cannot: 0, or -EINVAL with error filled. for_all: how to get kernel and user
 * stacks, "leave both out".
 */
int trace_options__check(const struct trace_options *options, const char *for_all,
			 struct error *error);

#endif
