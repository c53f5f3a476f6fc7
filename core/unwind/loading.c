// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/loading.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "bpf/unwind_tables.h"
#include "core/history/records.h"
#include "core/kernel/ring.h"
#include "core/options/pid_list.h"
#include "core/unwind/files.h"
#include "core/unwind/processes.h"
#include "core/unwind/tables.h"
#include "sym/cfi/reader.h"
#include "sym/cfi/table_reader.h"
#include "sym/child/reader_child.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"

#define MILLISECONDS 1000000ULL

/*
 * Bytes of the kernel's records that wake it: a mapping has more, a fork or an end somewhat less.
 */
#define RECORDS_WAKEUP 64

/* Reads of the records before somebody else gets a turn. */
#define LOOKS_AT_ONCE 4

/* The wait until a child is asked again if it goes on, or a postponed process is due. */
#define WAIT_MS 20

/* A process that has not changed is looked at less and less often. */
#define PAUSE_FIRST (50 * MILLISECONDS)
#define PAUSE_MOST  (2000 * MILLISECONDS)

/*
 * A file that could not be opened is tried again, mostly in different processes, after a pause that
 * grows as well. After so many failures this is reported.
 */
#define RETRY_FIRST  (20 * MILLISECONDS)
#define FAILURES_MAX 5

struct loading {
	const struct pid_list *pids;
	volatile struct unwind_status *status;
	struct unwind_tables tables;
	struct unwind_files files;
	struct known_processes processes;
	struct process_records *records; /* NULL: they cannot be had */
	struct ring requests;
	uint64_t looked; /* when the records were read last; earlier ones have come */
	struct avoided_devices avoided;
	int watches;	 /* or negative */
	uint64_t wanted; /* how often files have been wanted */
	/* A file that is read ahead, while another one is written to the tables. */
	struct unwind_table_reader *ahead; /* or NULL */
	uint32_t ahead_file;
	bool postponed; /* a process is to be looked at later */
};

/* ---- files ---- */

static int sink_begin(void *context, const struct unwind_table_head *head)
{
	struct loading *loading = context;

	return unwind_tables__begin(&loading->tables, head);
}

static int sink_page(void *context, uint32_t page, const uint32_t *rows, uint32_t nr)
{
	struct loading *loading = context;

	return unwind_tables__add_page(&loading->tables, page, rows, nr);
}

/* pid has the file at start, or has had it there. */
static void want_file(struct loading *loading, struct unwind_known_file *file, pid_t pid,
		      uint64_t start)
{
	if (file->state != UNWIND_MODULE_WANTED || file->wanted_by || file->is_read ||
	    monotonic_now() < file->retry)
		return;
	/* The path has been tried already; only a running process helps. */
	if (file->failures && kill(pid, 0) && errno == ESRCH)
		return;
	file->wanted_by = pid;
	file->wanted_start = start;
	file->wanted = ++loading->wanted;
}

/* Files that nobody could open after their processes had ended: ask a new process that has them. */
static void want_failed_files(struct loading *loading, const struct known_process *process)
{
	for (size_t i = 0; i < process->nr; i++) {
		const struct known_mapping *mapping = &process->mappings[i];

		if (mapping->file < loading->files.nr &&
		    loading->files.items[mapping->file].failures)
			want_file(loading, &loading->files.items[mapping->file], process->pid,
				  mapping->start);
	}
}

static void write_changed(struct loading *loading)
{
	known_processes__for_each(process, &loading->processes)
		if (process->changed && !process->ended) {
			known_processes__write(&loading->processes, process, &loading->tables);
			want_failed_files(loading, process);
		}
}

/* Programs that live for a moment are gone, with their mounts, when their files are opened. */
static void note_failure(struct loading *loading, struct unwind_known_file *file)
{
	uint64_t pause = RETRY_FIRST << file->failures;

	file->retry = monotonic_now() + (pause < PAUSE_MOST ? pause : PAUSE_MOST);
	if (file->failures < FAILURES_MAX && ++file->failures == FAILURES_MAX)
		loading->status->nr_refused++;
}

static enum unwind_module_state state_after(struct loading *loading, struct unwind_known_file *file,
					    int err)
{
	switch (err) {
	case 0:
		loading->status->nr_loaded++;
		loading->status->nr_refused -= file->failures >= FAILURES_MAX;
		return UNWIND_MODULE_LOADED;
	case -ENOENT:
	case -ENOEXEC:
	case -ENOTSUP:
		return UNWIND_MODULE_EMPTY;
	case -E2BIG:
	case -ENOSPC:
		loading->status->out_of_memory++;
		return UNWIND_MODULE_REFUSED;
	case -ESRCH:
	case -ESTALE:
	case -EACCES:
	case -ECANCELED:
	case -ETIMEDOUT: /* perhaps a busy disk; other devices are avoided, and cost nothing */
		note_failure(loading, file);
		return UNWIND_MODULE_WANTED;
	default:
		loading->status->nr_refused++;
		return UNWIND_MODULE_REFUSED;
	}
}

static int begin_file(struct loading *loading, uint32_t number, struct unwind_table_reader **reader)
{
	struct unwind_known_file *file = &loading->files.items[number];
	struct unwind_mapped mapped = file->mapped;
	pid_t pid = file->wanted_by;

	mapped.start = file->wanted_start;
	file->wanted_by = 0;
	file->is_read = true;
	return unwind_table_reader__start(reader, pid, &mapped, &loading->avoided);
}

static void end_file(struct loading *loading, uint32_t number, int err)
{
	struct unwind_known_file *file = &loading->files.items[number];

	file->is_read = false;
	file->state = state_after(loading, file, err);
	unwind_tables__set_module(&loading->tables, file->module, file->state);
	loading->status->memory = loading->tables.memory;
}

static bool is_more_wanted(const struct unwind_known_file *a, const struct unwind_known_file *b)
{
	return a->walks != b->walks ? a->walks > b->walks : a->wanted < b->wanted;
}

/*
 * The wanted file that most walks came to, else the first, among files with a module for their
 * tables; UNWIND_FILE_NONE if there is none.
 */
static uint32_t find_wanted_file(const struct loading *loading)
{
	const struct unwind_known_file *items = loading->files.items;
	uint32_t first = UNWIND_FILE_NONE;

	for (uint32_t i = 0; i < loading->files.nr; i++)
		if (items[i].wanted_by && items[i].module != UNWIND_UNKNOWN_MODULE &&
		    (first == UNWIND_FILE_NONE || is_more_wanted(&items[i], &items[first])))
			first = i;
	return first;
}

/* Have another CPU read the next file. */
static void read_ahead(struct loading *loading)
{
	while (!loading->ahead) {
		uint32_t number = find_wanted_file(loading);
		int err;

		if (number == UNWIND_FILE_NONE)
			return;
		err = begin_file(loading, number, &loading->ahead);
		loading->ahead_file = number;
		if (err)
			end_file(loading, number, err);
	}
}

/* Load the file that was read ahead, if it is ready. Returns true if there was one. */
static bool load_wanted_file(struct loading *loading)
{
	const struct unwind_sink sink = {
		.context = loading, .begin = sink_begin, .page = sink_page};
	struct unwind_table_reader *reader;
	uint32_t number;
	int err;

	read_ahead(loading);
	if (!loading->ahead || !unwind_table_reader__is_ready(loading->ahead))
		return false;
	reader = loading->ahead;
	number = loading->ahead_file;
	loading->ahead = NULL;
	read_ahead(loading);
	err = unwind_table_reader__finish(reader, &sink);
	end_file(loading, number, err);
	return true;
}

/* ---- processes ---- */

static void want_files(struct loading *loading, const struct known_process *process)
{
	for (size_t i = 0; i < process->nr; i++) {
		const struct known_mapping *mapping = &process->mappings[i];

		if (mapping->file < loading->files.nr)
			want_file(loading, &loading->files.items[mapping->file], process->pid,
				  mapping->start);
	}
}

/* Pause a process, for longer each time that a look at it was in vain. */
static void postpone(struct known_process *process, uint64_t now, bool in_vain)
{
	uint64_t longer = in_vain ? 2 * process->pause : PAUSE_FIRST;

	process->pause = longer < PAUSE_FIRST ? PAUSE_FIRST :
			 longer > PAUSE_MOST  ? PAUSE_MOST :
						longer;
	process->retry = now + process->pause;
}

/* Returns 0, or -ESRCH if it has ended. */
static int read_process(struct loading *loading, struct known_process *process)
{
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;
	uint64_t now = monotonic_now();
	int changed = 0;
	int nr =
		unwind_reader__mappings(process->pid, &loading->avoided, loading->watches, &mapped);

	if (nr >= 0)
		changed = known_process__read(process, &loading->files, mapped, (size_t)nr, now);
	/* Count from now: a file that does not answer takes a second. */
	postpone(process, monotonic_now(), changed <= 0);
	return nr == -ESRCH ? nr : 0;
}

/* A walk came to a file that nobody has read, or to a place without a known mapping. */
static void load_process(struct loading *loading, struct known_process *process)
{
	process->wanted = 0;
	if (process->doubted && monotonic_now() >= process->retry) {
		process->doubted = false;
		/* Perhaps its end was heard before its request. */
		process->ended = read_process(loading, process) != 0;
	}
	if (process->changed)
		known_processes__write(&loading->processes, process, &loading->tables);
	want_files(loading, process);
	if (process->ended)
		known_processes__remove(&loading->processes, process->pid, &loading->tables);
}

/* Where a process has a file; or, if the process has gone by now, where the first one had it. */
static uint64_t start_in(const struct loading *loading, pid_t pid, uint32_t file)
{
	const struct known_process *process = known_processes__find(&loading->processes, pid);

	for (size_t i = 0; process && i < process->nr; i++)
		if (process->mappings[i].file == file)
			return process->mappings[i].start;
	return loading->files.items[file].mapped.start;
}

static void want_module(struct loading *loading, pid_t pid, uint32_t module)
{
	for (uint32_t i = 0; i < loading->files.nr; i++) {
		struct unwind_known_file *file = &loading->files.items[i];

		if (file->module != module)
			continue;
		file->walks++;
		want_file(loading, file, pid, start_in(loading, pid, i));
	}
}

static void note_wanted(struct loading *loading, pid_t pid, uint32_t module)
{
	bool names_module = module < loading->tables.nr_modules;

	/*
	 * If all processes are traced, each child that reads files would ask for another one. A
	 * child has our mappings from its start, as soon as these are known.
	 */
	if (reader_child__is_own(pid))
		pid = getpid();
	if (names_module)
		want_module(loading, pid, module);
	known_processes__want(&loading->processes, pid, names_module);
}

/*
 * Load the busiest process, or else a file; then other requests are heard. True if there was any.
 */
static bool load_wanted(struct loading *loading)
{
	struct known_process *wanted = NULL;

	known_processes__for_each(process, &loading->processes)
		if (process->wanted > (wanted ? wanted->wanted : 0))
			wanted = process;
	if (!wanted)
		return load_wanted_file(loading);
	load_process(loading, wanted);
	return true;
}

/* ---- what is heard ---- */

static void take_changes(struct loading *loading)
{
	int watch;

	while (loading->watches >= 0 && unwind_watches__next(loading->watches, &watch))
		unwind_files__changed(&loading->files, watch);
}

/* Take the records that were written before the previous read: these are in the right order. */
static void take_records(struct loading *loading)
{
	uint64_t now = monotonic_now();
	const struct process_record *record;

	/* Records lost for want of memory show when a walk asks. */
	(void)process_records__read(loading->records);
	/* Hear of changed files before a record can name another file in the place of one. */
	take_changes(loading);
	loading->processes.since = loading->looked;
	while ((record = process_records__next(loading->records, loading->looked)))
		if (process_record__is_of(record, loading->pids))
			known_processes__take(&loading->processes, record, &loading->tables);
	loading->looked = now;
}

static void take_requests(struct loading *loading)
{
	struct unwind_request request;

	ring__look(&loading->requests);
	while (ring__read(&loading->requests, &request, sizeof(request)) == sizeof(request))
		note_wanted(loading, (pid_t)request.tgid, request.module);
	ring__free_read(&loading->requests);
}

/* A process whose files cannot be found must not keep us from all others. */
static bool is_postponed(const struct known_process *process)
{
	return process->unknown && process->pause > PAUSE_FIRST && monotonic_now() < process->retry;
}

/*
 * Look at newly mapped files at once, so that the next process that has them is known from its
 * start: through the process or, if it has gone, by path.
 */
static void look_at_new_files(struct loading *loading)
{
	loading->postponed = false;
	known_processes__for_each(process, &loading->processes) {
		/* Its PID can belong to another process by now. */
		if (process->ended)
			continue;
		if (is_postponed(process)) {
			loading->postponed = true;
			continue;
		}
		if (process->unknown)
			(void)read_process(loading, process);
		process->unknown = false;
		if (loading->pids->nr && !loading->pids->children)
			want_files(loading, process);
	}
	unwind_files__seek(&loading->files, &loading->avoided, loading->watches);
}

/*
 * Files that the walks of an ended process asked for are still loaded, for whoever runs the same
 * program next.
 */
static void end_processes(struct loading *loading)
{
	if (!loading->processes.any_ended)
		return;
	known_processes__for_each(process, &loading->processes) {
		if (!process->ended || !process->wanted)
			continue;
		known_processes__write(&loading->processes, process, &loading->tables);
		want_files(loading, process);
	}
	known_processes__remove_ended(&loading->processes, &loading->tables);
}

/* Not while a file is read ahead: nobody else refers to a file that is forgotten. */
static void make_room_for_files(struct loading *loading)
{
	if (!unwind_files__is_full(&loading->files) || loading->ahead)
		return;
	known_processes__forget(&loading->processes, &loading->tables);
	unwind_files__forget(&loading->files);
}

static void listen_all(struct loading *loading)
{
	for (int i = 0; i < LOOKS_AT_ONCE && loading->records; i++) {
		take_records(loading);
		if (i && !process_records__has_later(loading->records))
			break;
	}
	write_changed(loading);
	look_at_new_files(loading);
	make_room_for_files(loading);
	/* A process has asked before it ended. */
	take_requests(loading);
	end_processes(loading);
	write_changed(loading);
	loading->status->no_room = loading->processes.nr_no_room;
	loading->status->no_modules = loading->processes.nr_no_module;
}

/* ---- all of it ---- */

static struct pollfd poll_ahead(const struct loading *loading)
{
	return loading->ahead ? unwind_table_reader__poll(loading->ahead) :
				(struct pollfd){.fd = -1};
}

static void load_named(struct loading *loading)
{
	for (size_t i = 0; i < loading->pids->nr; i++)
		note_wanted(loading, loading->pids->pids[i], UNWIND_NO_MODULE);
	for (bool busy = true; busy || loading->ahead; busy = load_wanted(loading)) {
		struct pollfd polled[] = {poll_ahead(loading)};

		poll(polled, ARRAY_SIZE(polled), busy ? 0 : WAIT_MS);
	}
}

static bool has_later_records(const struct loading *loading)
{
	return loading->records && process_records__has_later(loading->records);
}

/* Run until the parent is gone. */
static void run(struct loading *loading, int socket)
{
	struct pollfd polled[] = {{.fd = socket, .events = POLLIN},
				  {.fd = loading->requests.fd, .events = POLLIN},
				  {.fd = -1},
				  {.fd = -1}};

	if (loading->records)
		polled[2] = process_records__poll(loading->records);
	(void)!write(socket, "", 1);
	for (bool busy = false;; busy = load_wanted(loading)) {
		int wait = busy					? 0 :
			   has_later_records(loading)		? 1 :
			   loading->ahead || loading->postponed ? WAIT_MS :
								  -1;

		polled[3] = poll_ahead(loading);
		if (poll(polled, ARRAY_SIZE(polled), wait) < 0 && errno != EINTR)
			return;
		if (polled[0].revents)
			return;
		listen_all(loading);
	}
}

int unwind_loading__run(const struct unwind_maps *maps, const struct pid_list *pids,
			uint64_t memory, int socket, struct unwind_told *told)
{
	static struct loading loading;
	struct error error;
	int err;

	loading.pids = pids;
	loading.status = &told->status;
	loading.processes.files = &loading.files;
	loading.processes.modules = &told->modules;
	err = unwind_tables__open(&loading.tables, maps, memory);
	if (!err)
		err = ring__open(&loading.requests, maps->requests, &error);
	if (err)
		return err;
	loading.watches = unwind_watches__open();
	err = process_records__open(&loading.records, RECORDS_WAKEUP, &error);
	if (err) {
		loading.records = NULL;
		told->status.no_records = (uint32_t)-err;
	}
	load_named(&loading);
	run(&loading, socket);
	return 0;
}
