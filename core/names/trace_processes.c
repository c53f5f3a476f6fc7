// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/names/trace_processes.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/unwind_tables.h"
#include "core/history/history.h"
#include "core/history/records.h"
#include "core/trace/stacks.h"
#include "sym/sym.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"

/*
 * A program that is started wakes us at once, as its file may be gone soon; while others
 * follow they wait for so long.
 */
#define NAP (2 * 1000000ULL)

/* The most that the start of a trace waits for what processes have mapped by then. */
#define SNAPSHOTS_WAIT (100 * 1000000ULL)

/* So many processes are looked after whose first thread has ended, while others run. */
#define LEADERLESS_MAX 32

/* The links of /proc/PID/task: those of any directory, and of each thread. */
#define TASK_LINKS 2

struct leaderless {
	pid_t pid;
	uint64_t since;
	uint64_t seen; /* that it ran, last */
};

struct trace_processes {
	struct symbolizer *symbolizer;
	const struct pid_list *pids;
	struct process_records *records;
	struct process_history *history;
	uint64_t looked; /* when the records were read last: those before have come */
	/*
	 * Of which process each snapshot is, by its number less 1; 0: perhaps of what that has
	 * become since.
	 */
	pid_t *snapshots;
	size_t nr_snapshots, snapshots_capacity;
	struct leaderless leaderless[LEADERLESS_MAX];
	size_t nr_leaderless;
	uint64_t taken; /* a time by which all of them had been taken; 0: not yet */
};

pid_t trace_processes__part_pid(uint32_t part)
{
	return -(pid_t)part;
}

pid_t trace_processes__module_pid(uint32_t module)
{
	return -(pid_t)(PROCESS_PARTS_MAX + module);
}

static pid_t snapshot_pid(size_t snapshot)
{
	return -(pid_t)(PROCESS_PARTS_MAX + UNWIND_MODULES + snapshot);
}

pid_t trace_processes__snapshot_pid(const struct trace_processes *processes, uint32_t snapshot)
{
	return processes->snapshots[snapshot - 1] ? snapshot_pid(snapshot) : 0;
}

/* ---- the start ---- */

/* Kernel threads have none. */
static bool has_program(pid_t pid)
{
	char path[32], link;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return readlink(path, &link, sizeof(link)) >= 0 || errno != ENOENT;
}

/* It stands under a PID of its own, which is read once: what pid becomes does not change it. */
static void remember(struct trace_processes *processes, pid_t pid)
{
	const struct sym_image as_it_is = {.parent = pid};
	size_t snapshot = processes->nr_snapshots + 1;

	if (ARRAY_GROW(processes->snapshots, processes->nr_snapshots,
		       processes->snapshots_capacity) ||
	    symbolizer__remember_soon(processes->symbolizer, snapshot_pid(snapshot), &as_it_is))
		return;
	processes->snapshots[processes->nr_snapshots++] = pid;
	process_history__begin(processes->history, pid, (uint32_t)snapshot);
}

static void remember_all(struct trace_processes *processes)
{
	CLEANUP_CLOSEDIR DIR *directory = opendir("/proc");
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != getpid() && has_program(pid))
			remember(processes, pid);
	}
}

static void attend_symbolizer(struct trace_processes *processes)
{
	struct pollfd polled;

	(void)symbolizer__attend(processes->symbolizer);
	if (!processes->taken && symbolizer__poll(processes->symbolizer, &polled) < 0)
		processes->taken = monotonic_now();
}

/*
 * For a moment: what becomes another program before its snapshot has been taken lacks names.
 * But the trace does not wait for a process that does not answer, or for thousands.
 */
static void await_snapshots(struct trace_processes *processes)
{
	uint64_t end = monotonic_now() + SNAPSHOTS_WAIT;

	for (attend_symbolizer(processes); !processes->taken && monotonic_now() < end;
	     attend_symbolizer(processes)) {
		struct pollfd polled;

		(void)symbolizer__poll(processes->symbolizer, &polled);
		poll(&polled, 1, 1);
	}
}

static int open_all(struct trace_processes *processes, struct error *error)
{
	int err = process_history__new(&processes->history, PROCESS_HISTORY_PROGRAMS,
				       PROCESS_HISTORY_BYTES);

	if (err)
		return error__set(error, err, "cannot watch what processes map: %s",
				  strerror(-err));
	return process_records__open(&processes->records, PROCESS_RECORDS_START, error);
}

int trace_processes__new(struct trace_processes **out, struct symbolizer *symbolizer,
			 const struct pid_list *pids, struct error *error)
{
	struct trace_processes *processes = calloc(1, sizeof(*processes));
	int err;

	if (!processes)
		return error__set(error, -ENOMEM, "cannot watch what processes map: out of memory");
	processes->symbolizer = symbolizer;
	processes->pids = pids;
	err = open_all(processes, error);
	if (err) {
		trace_processes__free(processes);
		return err;
	}
	for (size_t i = 0; i < pids->nr; i++)
		remember(processes, pids->pids[i]);
	if (!pids->nr && !pids->children)
		remember_all(processes);
	await_snapshots(processes);
	*out = processes;
	return 0;
}

void trace_processes__free(struct trace_processes *processes)
{
	if (!processes)
		return;
	process_records__close(processes->records);
	process_history__free(processes->history);
	free(processes->snapshots);
	free(processes);
}

/* ---- meanwhile ---- */

/* Opened as what the process has mapped, if that is still there, or else by its path. */
static void hold(struct trace_processes *processes, uint32_t part)
{
	struct sym_mapping mapping;
	const struct sym_image image = process_history__image(processes->history, part, &mapping);

	(void)symbolizer__remember_soon(processes->symbolizer, trace_processes__part_pid(part),
					&image);
}

/* What became another program before that can be in its snapshot as that already. */
static void doubt_snapshot(struct trace_processes *processes, const struct process_record *record)
{
	if ((record->deed != PROCESS_EXECUTED && record->deed != PROCESS_ENDED) ||
	    (processes->taken && record->time > processes->taken))
		return;
	for (size_t i = 0; i < processes->nr_snapshots; i++)
		if (processes->snapshots[i] == record->pid)
			processes->snapshots[i] = 0;
}

static void use(struct trace_processes *processes, const struct process_record *record)
{
	uint32_t part;

	doubt_snapshot(processes, record);
	part = process_history__take(processes->history, record);
	if (part)
		hold(processes, part);
}

/* Besides the first, which is there until its process has ended as a whole. */
static bool has_other_threads(pid_t pid)
{
	struct stat task;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return !stat(path, &task) && task.st_nlink > TASK_LINKS + 1;
}

static void end_leaderless(struct trace_processes *processes, size_t i, uint64_t time)
{
	const struct process_record end = {
		.deed = PROCESS_ENDED, .time = time, .pid = processes->leaderless[i].pid};

	processes->leaderless[i] = processes->leaderless[--processes->nr_leaderless];
	use(processes, &end);
}

static void look_after_leaderless(struct trace_processes *processes)
{
	uint64_t now = monotonic_now();

	for (size_t i = processes->nr_leaderless; i-- > 0;) {
		struct leaderless *item = &processes->leaderless[i];

		if (has_other_threads(item->pid))
			item->seen = now;
		else
			end_leaderless(processes, i, item->seen);
	}
}

/* Whether an end is that of a first thread only. */
static bool add_leaderless(struct trace_processes *processes, const struct process_record *end)
{
	if (processes->nr_leaderless == LEADERLESS_MAX || !has_other_threads(end->pid))
		return false;
	processes->leaderless[processes->nr_leaderless++] =
		(struct leaderless){.pid = end->pid, .since = end->time, .seen = end->time};
	return true;
}

static void take_record(struct trace_processes *processes, const struct process_record *record)
{
	if (!process_record__is_of(record, processes->pids) ||
	    (record->deed == PROCESS_ENDED && add_leaderless(processes, record)))
		return;
	/* The PID is that of another process, or its one thread has become the first. */
	if (record->deed == PROCESS_FORKED || record->deed == PROCESS_EXECUTED)
		for (size_t i = processes->nr_leaderless; i-- > 0;)
			if (processes->leaderless[i].pid == record->pid)
				end_leaderless(processes, i, processes->leaderless[i].since);
	use(processes, record);
}

/* Those that had been written when the records were read the time before: in the right order. */
static int take_records(struct trace_processes *processes)
{
	uint64_t now = monotonic_now();
	int err = process_records__read(processes->records);
	const struct process_record *record;

	look_after_leaderless(processes);
	while ((record = process_records__next(processes->records, processes->looked)))
		take_record(processes, record);
	processes->looked = now;
	return err;
}

/* What the first finds to be missing ends behind it, and is before the second. */
int trace_processes__settle(struct trace_processes *processes)
{
	int err = 0;

	for (int i = 0; i < 3 && !err; i++)
		err = take_records(processes);
	return err;
}

/* Until something is to be done, or left has passed; 0: there is no end. */
static enum session_end wait_for_round(struct trace_processes *processes, struct session *session,
				       uint64_t left, uint64_t nap)
{
	struct pollfd watched[SESSION_WATCHED] = {{.fd = -1}, {.fd = -1}, {.fd = -1}};
	int soon = symbolizer__poll(processes->symbolizer, &watched[0]);
	uint64_t wait = left;

	if (soon >= 0 && (!wait || wait > (uint64_t)soon * 1000000))
		wait = (uint64_t)soon * 1000000;
	if (!nap)
		watched[1] = process_records__poll(processes->records);
	else if (!wait || wait > nap)
		wait = nap;
	session__watch(session, watched);
	return session__wait(session, wait);
}

enum session_end trace_processes__wait(struct trace_processes *processes, struct session *session,
				       uint64_t timeout)
{
	uint64_t now = monotonic_now(), deadline = now + timeout, awake = 0;

	while (!timeout || now < deadline) {
		bool naps = awake > now;
		enum session_end end = wait_for_round(
			processes, session, timeout ? deadline - now : 0, naps ? awake - now : 0);

		if (end != SESSION_TIMEOUT && end != SESSION_READY)
			return end;
		attend_symbolizer(processes);
		now = monotonic_now();
		if (naps || end != SESSION_READY)
			continue;
		/* What is lost for want of memory is not known, and has no names. */
		(void)trace_processes__settle(processes);
		awake = now + NAP;
	}
	return SESSION_TIMEOUT;
}

/* ---- at the end ---- */

size_t trace_processes__date(const struct trace_processes *processes, struct stack_counts *counts)
{
	size_t forgotten = 0;

	for (size_t i = 0; i < counts->nr; i++) {
		struct counted_stack *item = &counts->items[i];

		if (!item->user->nr)
			continue;
		item->since = process_history__since(processes->history, (pid_t)item->key.tgid,
						     item->time);
		forgotten += item->since == PROGRAM_FORGOTTEN;
	}
	return forgotten;
}

const struct process_history *trace_processes__history(const struct trace_processes *processes)
{
	return processes->history;
}
