// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/options/trace_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bpf/abi.h"
#include "core/options/comm_glob.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/number.h"
#include "sym/util/text.h"

const char *const unwind_methods[] = {[UNWIND_AUTO] = "auto",
				      [UNWIND_DWARF] = "dwarf",
				      [UNWIND_FRAME_POINTERS] = "fp",
				      [UNWIND_OFF] = "off",
				      NULL};

const char *const unnamed_forms[] = {
	[UNNAMED_AUTO] = "auto", [UNNAMED_START] = "start", [UNNAMED_OFF] = "off", NULL};

bool trace_options__tell_unnamed(const struct trace_options *options, bool by_itself)
{
	return options->unnamed == UNNAMED_START || (options->unnamed == UNNAMED_AUTO && by_itself);
}

const struct pid_list *trace_options__ids(const struct trace_options *options)
{
	return options->tids.nr ? &options->tids : &options->pids;
}

void trace_options__print_whose(const struct trace_options *options, const char *all,
				const struct id_style *style, FILE *out)
{
	const struct pid_list *ids = trace_options__ids(options);
	char name[256];

	if (options->command) {
		text__clean(options->command[0], strlen(options->command[0]), false, name,
			    sizeof(name));
		fprintf(out, "%s and what it starts", name);
	} else if (ids->nr == 0) {
		fputs(all, out);
	} else {
		fputs(options->tids.nr ? style->threads : style->processes, out);
		for (size_t i = 0; i < ids->nr; i++)
			fprintf(out, "%s%d", i ? style->separator : "", ids->pids[i]);
		fputs(style->end, out);
	}
	fprintf(out, " by %s stack",
		options->kernel_stacks_only ? "kernel" :
		options->user_stacks_only   ? "user" :
					      "user + kernel");
}

void trace_options__print_duration(const struct trace_options *options, FILE *out)
{
	if (options->duration)
		fprintf(out, " for %g secs.\n", (double)options->duration / NANOSECONDS);
	else
		fputs("... Hit Ctrl-C to end.\n", out);
}

/* The process that a thread belongs to; a process's own PID is that of its first thread. */
static pid_t process_of(pid_t tid)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	char path[64], line[256];
	pid_t pid = tid;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	return pid;
}

int trace_options__processes(const struct trace_options *options, struct pid_list *pids)
{
	const struct pid_list *ids = trace_options__ids(options);
	pid_t *found = calloc(ids->nr + 1, sizeof(*found));
	bool children = options->children || options->command;

	if (!found)
		return -ENOMEM;
	for (size_t i = 0; i < ids->nr; i++)
		found[i] = process_of(ids->pids[i]);
	*pids = (struct pid_list){.pids = found, .nr = ids->nr, .children = children};
	return 0;
}

static int check_comm(const char *comm, struct error *error)
{
	struct comm_glob glob;

	switch (comm_glob__compile(&glob, comm)) {
	case 0:
		return 0;
	case -E2BIG:
		return error__set(error, -EINVAL,
				  "--comm '%.100s': names of threads have %d bytes at most, the "
				  "rest is cut off; end it with *",
				  comm, COMM_LEN - 1);
	default:
		return error__set(error, -EINVAL, "--comm '%.100s': '[' or a backslash has no end",
				  comm);
	}
}

static bool are_same_program(pid_t one, uint64_t other)
{
	struct stat one_status, other_status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", one);
	if (stat(path, &one_status))
		return false;
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/exe", other);
	return !stat(path, &other_status) && one_status.st_ino == other_status.st_ino &&
	       one_status.st_dev == other_status.st_dev;
}

#define DURATION_MOST 86400 /* a day */

int trace_options__check_duration(const struct trace_options *options, struct error *error)
{
	const struct pid_list *ids = trace_options__ids(options);
	uint64_t seconds = options->duration / NANOSECONDS;

	if (!ids->nr || !options->bare_duration ||
	    (seconds <= DURATION_MOST && !are_same_program(ids->pids[0], seconds)))
		return 0;
	return error__set(
		error, -EINVAL,
		"'%" PRIu64 "' would be how many seconds the trace takes; more %s are given "
		"as -%c %d,%" PRIu64 ", and the duration as %" PRIu64 "s",
		seconds, options->pids.nr ? "processes" : "threads",
		options->pids.nr ? 'p' : options->tids_letter, ids->pids[0], seconds, seconds);
}

int trace_options__check(const struct trace_options *options, const char *for_all,
			 struct error *error)
{
	if (options->kernel_stacks_only && options->user_stacks_only)
		return error__set(error, -EINVAL, "-K and -U exclude each other: %s for all stacks",
				  for_all);
	if (options->pids.nr && options->tids.nr)
		return error__set(error, -EINVAL,
				  "-p and -%c exclude each other: a thread belongs to one process",
				  options->tids_letter);
	if (options->command && (options->pids.nr || options->tids.nr))
		return error__set(
			error, -EINVAL,
			"-%c and a COMMAND exclude each other: it is traced with all that "
			"it starts",
			options->pids.nr ? 'p' : options->tids_letter);
	if (options->as_root && !options->command)
		return error__set(error, -EINVAL, "--as-root is for a COMMAND");
	if (options->linger && !options->command && !options->children)
		return error__set(error, -EINVAL,
				  "--linger is for a COMMAND or --children: it says for whom");
	if (options->children && !options->pids.nr)
		return error__set(error, -EINVAL, "--children is for -p: it says whose");
	if (options->cgroup && options->container)
		return error__set(error, -EINVAL,
				  "--cgroup and --container exclude each other: a container is a "
				  "cgroup");
	if (options->container && !options->container[0])
		return error__set(error, -EINVAL, "--container: the ID is empty");
	return options->comm ? check_comm(options->comm, error) : 0;
}
