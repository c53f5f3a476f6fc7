// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/loading.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bpf/unwind_tables.h"
#include "core/kernel/kernel_time.h"
#include "core/kernel/ring.h"
#include "core/unwind/files.h"
#include "core/unwind/generators.h"
#include "core/unwind/later.h"
#include "core/unwind/modules.h"
#include "core/unwind/tables.h"
#include "sym/cfi/reader.h"
#include "sym/cfi/table_reader.h"
#include "sym/child/reader_child.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/debug_log.h"
#include "sym/util/error.h"
#include "sym/util/text_set.h"

/* The wait until a child is asked again if it goes on. */
#define WAIT_MS 20

/*
 * A file that could not be opened is tried again, mostly in different processes, after a pause that
 * grows as well. After so many failures this is reported.
 */
#define RETRY_FIRST  (20 * MILLISECONDS)
#define RETRY_MOST   (2000 * MILLISECONDS)
#define FAILURES_MAX 5

/*
 * When what is in use at a time has no room, its files are not read all the time: one that was
 * loaded is loaded again after so long at the earliest, and one that had no room after a pause that
 * grows from one second to that.
 */
#define LOAD_AGAIN   (8 * NANOSECONDS)
#define ROOM_FIRST   NANOSECONDS
#define REFUSALS_MAX 4 /* 1, 2, 4, 8 seconds */

/* A file that is tried again has waited so many times as long as to read it has taken. */
#define PAUSE_SHARE 16

/* Processes take turns: those that were served longest ago come first. */
#define SERVED_MAX 16

struct loading {
	struct unwind_told *told; /* what others read */
	struct unwind_tables tables;
	bool loads_tables;
	struct unwind_files files;
	struct unwind_identifier identifier;
	struct unwind_keeper keeper;
	struct ring requests;
	struct later later;
	uint64_t walk_after;  /* when stacks are walked again */
	uint64_t waits_until; /* the parent waits for files, until then at most; 0: it does not */
	unsigned char asked;  /* what it has sent */
	struct avoided_devices avoided;
	struct generators generators;
	uint64_t wanted;	  /* how often files have been wanted */
	pid_t served[SERVED_MAX]; /* whose files were looked for or loaded last; a ring */
	unsigned int nr_served;
	bool holds_command;	/* it does not run yet, */
	struct text_set needed; /* and needs that; each once */
	/* A file that is read ahead, while another one is written to the tables. */
	struct unwind_table_reader *ahead; /* or NULL */
	uint32_t ahead_file;
	uint32_t loaded_file; /* the one that was written last */
};

static volatile struct unwind_status *status_of(const struct loading *loading)
{
	return &loading->told->status;
}

/* ---- tables ---- */

/* True if walks have no use of what is known of the file. */
static bool lacks_tables(const struct loading *loading, const struct unwind_known_file *file)
{
	return !unwind_known_file__is_found(file) || file->module == UNWIND_UNKNOWN_MODULE ||
	       (file->module < UNWIND_MODULES &&
		(unwind_tables__state(&loading->tables, file->module) == UNWIND_MODULE_WANTED ||
		 unwind_tables__state(&loading->tables, file->module) == UNWIND_MODULE_DELAYED));
}

/* pid has the file at start, or has had it there. */
static void want_file(struct loading *loading, struct unwind_known_file *file, pid_t pid,
		      uint64_t start)
{
	uint64_t now = monotonic_now();

	file->heard = unwind_age(kernel_time__now());
	if (!lacks_tables(loading, file) || file->wanted_by || file->is_read || now < file->retry)
		return;
	/* The path has been tried already; only a running process helps. */
	if (file->failures && kill(pid, 0) && errno == ESRCH)
		return;
	file->wanted_by = pid;
	file->wanted_start = start;
	file->wanted = ++loading->wanted;
}

/* The walk has asked for files, but not for the same again within a while. */
static void want_files_of(void *context, const struct raw_stack *raw)
{
	struct loading *loading = context;
	bool is_own = reader_child__is_own((pid_t)raw->tgid);

	for (uint32_t i = 0; i < raw->nr_mappings && !is_own; i++) {
		const struct raw_mapping *mapping = &raw_stack__mappings(raw)[i];
		uint32_t index =
			mapping->module < UNWIND_MODULES ?
				unwind_files__with_module(&loading->files, mapping->module) :
				UNWIND_FILE_NONE;

		if (mapping->executable && index != UNWIND_FILE_NONE)
			want_file(loading, &loading->files.items[index], (pid_t)raw->tgid,
				  mapping->start);
	}
}

/* For a table without room: true if there is more room by now. */
static bool make_room(struct loading *loading, int err)
{
	if ((err != -E2BIG && err != -ENOSPC) ||
	    unwind_tables__give_back_oldest(&loading->tables) < 0)
		return false;
	debug_log__say(DEBUG_LOG_TABLES,
		       "no room: the table that was not used for longest is given "
		       "back");
	status_of(loading)->nr_loaded--;
	status_of(loading)->nr_given_back++;
	return true;
}

static int sink_begin(void *context, const struct unwind_table_head *head)
{
	struct loading *loading = context;
	int err;

	do
		err = unwind_tables__begin(&loading->tables, head);
	while (make_room(loading, err));
	return err;
}

static int sink_page(void *context, uint32_t page, const uint32_t *rows, uint32_t nr)
{
	struct loading *loading = context;
	int err;

	do
		err = unwind_tables__add_page(&loading->tables, page, rows, nr);
	while (make_room(loading, err));
	return err;
}

/* Programs that live for a moment are gone, with their mounts, when their files are opened. */
static void note_failure(struct loading *loading, struct unwind_known_file *file)
{
	uint64_t pause = RETRY_FIRST << file->failures;

	file->retry = monotonic_now() + (pause < RETRY_MOST ? pause : RETRY_MOST);
	if (file->failures < FAILURES_MAX && ++file->failures == FAILURES_MAX)
		status_of(loading)->nr_refused++;
}

static void note_success(struct loading *loading, struct unwind_known_file *file)
{
	status_of(loading)->nr_loaded++;
	status_of(loading)->nr_refused -= file->failures >= FAILURES_MAX;
	status_of(loading)->out_of_memory -= file->refusals > 0;
	file->failures = file->refusals = 0;
	file->retry = monotonic_now() + LOAD_AGAIN;
}

static void note_no_room(struct loading *loading, struct unwind_known_file *file)
{
	status_of(loading)->out_of_memory += !file->refusals;
	if (file->refusals < REFUSALS_MAX)
		file->refusals++;
	file->retry = monotonic_now() + (ROOM_FIRST << (file->refusals - 1));
}

/* What limits of processes forbid. */
static void note_if_starved(struct loading *loading, int err)
{
	if (err == -EAGAIN || err == -EMFILE || err == -ENOMEM)
		status_of(loading)->starved = (uint32_t)-err;
}

static enum unwind_module_state state_after(struct loading *loading, struct unwind_known_file *file,
					    int err)
{
	switch (err) {
	case 0:
		note_success(loading, file);
		return UNWIND_MODULE_LOADED;
	case -ENOENT:
	case -ENOEXEC:
	case -ENOTSUP:
		return UNWIND_MODULE_EMPTY;
	case -E2BIG:
	case -ENOSPC:
	case -EFBIG:
		note_no_room(loading, file);
		return UNWIND_MODULE_DELAYED;
	case -ESRCH:
	case -ESTALE:
	case -EACCES:
	case -ECANCELED:
	case -ETIMEDOUT: /* perhaps a busy disk; other devices are avoided, and cost nothing */
		note_failure(loading, file);
		return UNWIND_MODULE_DELAYED;
	case -EAGAIN:
	case -EMFILE:
		note_failure(loading, file);
		return UNWIND_MODULE_DELAYED;
	default:
		status_of(loading)->nr_refused++;
		return UNWIND_MODULE_REFUSED;
	}
}

static void say_state(const struct unwind_known_file *file, enum unwind_module_state state, int err)
{
	static const char *const texts[] = {
		[UNWIND_MODULE_LOADED] = "is loaded",
		[UNWIND_MODULE_EMPTY] = "has no table",
		[UNWIND_MODULE_DELAYED] = "is tried again",
		[UNWIND_MODULE_REFUSED] = "is given up",
	};

	debug_log__say(DEBUG_LOG_TABLES, "%s, module %u, %s%s%s", file->mapped.path, file->module,
		       texts[state], err ? ": " : "", err ? unwind_table_reader__text(err) : "");
}

static void end_file(struct loading *loading, uint32_t number, int err)
{
	struct unwind_known_file *file = &loading->files.items[number];
	enum unwind_module_state state = state_after(loading, file, err);
	uint64_t now = monotonic_now(), again = now + (now - file->began) * PAUSE_SHARE;

	if (state == UNWIND_MODULE_DELAYED && file->retry < again)
		file->retry = again;
	note_if_starved(loading, err);
	file->is_read = false;
	say_state(file, state, err);
	unwind_tables__set_module(&loading->tables, file->module, state);
	status_of(loading)->memory = unwind_shards__memory(&loading->tables.shards);
}

/* Those of the last seconds: in each second half of them is left. */
static uint32_t recent_walks(const struct unwind_known_file *file, uint64_t now)
{
	uint64_t seconds = now / NANOSECONDS - file->walked;

	return seconds < 32 ? file->walks >> seconds : 0;
}

static void note_walk(struct unwind_known_file *file)
{
	uint64_t now = monotonic_now();

	file->walks = recent_walks(file, now) + 1;
	file->walked = now / NANOSECONDS;
}

/* How many have been served since pid was, or SERVED_MAX. */
static unsigned int served_before(const struct loading *loading, pid_t pid)
{
	unsigned int nr = 0;

	while (nr < SERVED_MAX &&
	       loading->served[(loading->nr_served - 1 - nr) % SERVED_MAX] != pid)
		nr++;
	return nr;
}

static bool is_more_wanted(const struct loading *loading, const struct unwind_known_file *a,
			   const struct unwind_known_file *b, uint64_t now)
{
	unsigned int turn = served_before(loading, a->wanted_by);
	unsigned int other_turn = served_before(loading, b->wanted_by);
	uint32_t walks = recent_walks(a, now), other_walks = recent_walks(b, now);

	if (turn != other_turn)
		return turn > other_turn;
	return walks != other_walks ? walks > other_walks : a->wanted < b->wanted;
}

/*
 * The wanted file whose process has its turn, and of these the one that most walks came to of late,
 * else the first, among files that have been found or not; UNWIND_FILE_NONE if there is none.
 */
static uint32_t most_wanted(const struct loading *loading, bool found)
{
	const struct unwind_known_file *items = loading->files.items;
	uint32_t first = UNWIND_FILE_NONE;
	uint64_t now = monotonic_now();

	for (uint32_t i = 0; i < loading->files.nr; i++)
		if (items[i].wanted_by && unwind_known_file__is_found(&items[i]) == found &&
		    (first == UNWIND_FILE_NONE ||
		     is_more_wanted(loading, &items[i], &items[first], now)))
			first = i;
	return first;
}

/* Its process has had its turn. Returns that process. */
static pid_t take_turn(struct loading *loading, struct unwind_known_file *file)
{
	pid_t pid = file->wanted_by;

	loading->served[loading->nr_served++ % SERVED_MAX] = pid;
	file->wanted_by = 0;
	file->is_read = true;
	return pid;
}

static int begin_file(struct loading *loading, uint32_t number, struct unwind_table_reader **reader)
{
	struct unwind_known_file *file = &loading->files.items[number];
	struct unwind_mapped mapped = file->mapped;

	mapped.start = file->wanted_start;
	file->began = monotonic_now();
	return unwind_table_reader__start(reader, take_turn(loading, file), &mapped,
					  &loading->avoided);
}

/* Have another CPU read the next file. */
static void read_ahead(struct loading *loading)
{
	while (!loading->ahead) {
		uint32_t number = most_wanted(loading, true);
		int err;

		if (number == UNWIND_FILE_NONE)
			return;
		err = begin_file(loading, number, &loading->ahead);
		loading->ahead_file = number;
		if (err)
			end_file(loading, number, err);
	}
}

/* ---- files ---- */

/* Fill the entry by which frames in the file are named. */
static void tell_of_file(struct loading *loading, uint32_t number,
			 const struct unwind_mapped *mapped, pid_t pid)
{
	struct unwind_module_file *told = &loading->told->modules.items[number];

	if (unwind_module_file__is_found(told))
		return;
	told->id = (struct sym_file_id){.device = mapped->device,
					.inode = mapped->inode,
					.size = (uint64_t)mapped->identity.size,
					.modified = file_time(&mapped->identity.modified)};
	told->pid = pid;
	memcpy(told->path, mapped->path, sizeof(told->path));
	__atomic_store_n(&told->found, mapped->source != UNWIND_SOURCE_NONE, __ATOMIC_RELEASE);
}

static void put_file(struct loading *loading, const struct unwind_known_file *file)
{
	if (unwind_tables__put_file(&loading->tables, &file->mapped.file, file->module))
		status_of(loading)->no_modules++;
}

/* Number a file that was found in a process, or has been in it. What is no program needs none. */
static void number_file(struct loading *loading, uint32_t index, pid_t pid)
{
	struct unwind_known_file *file = &loading->files.items[index];
	bool is_program = file->mapped.source != UNWIND_SOURCE_OTHER;

	if (file->module == UNWIND_UNKNOWN_MODULE && is_program) {
		int number = unwind_tables__number_file(&loading->tables, &file->mapped.file);

		if (number < 0) {
			file->retry = UINT64_MAX;
			status_of(loading)->no_modules++;
			return;
		}
		unwind_files__set_module(&loading->files, index, (uint32_t)number);
	}
	if (file->module < UNWIND_MODULES)
		tell_of_file(loading, file->module, &file->mapped, pid);
	if (file->module < UNWIND_MODULES && !loading->loads_tables)
		unwind_tables__set_module(&loading->tables, file->module, UNWIND_MODULE_EMPTY);
	if (!is_program) {
		/* Stacks that are walked later have its number. */
		if (file->module < UNWIND_MODULES)
			unwind_tables__set_module(&loading->tables, file->module,
						  UNWIND_MODULE_EMPTY);
		unwind_files__set_module(&loading->files, index, UNWIND_NO_MODULE);
	}
	put_file(loading, file);
}

/* How long no walk has come to the file, nor has it been found. */
static uint32_t idle_for(const struct loading *loading, const struct unwind_known_file *file,
			 uint32_t now)
{
	uint32_t last = file->heard;

	if (file->module < UNWIND_MODULES) {
		uint32_t used = unwind_tables__used(&loading->tables, file->module);

		last = unwind_age__since(last, used) ? used : last;
	}
	return unwind_age__since(last, now);
}

/* Walks ask for it if they want it. */
static void forget_file(struct loading *loading, const struct unwind_known_file *file)
{
	unwind_tables__remove_file(&loading->tables, &file->mapped.file);
	unwind_files__remove(&loading->files, (uint32_t)(file - loading->files.items));
}

/* Forget the file that nobody has used for the longest time. */
static bool forget_oldest(struct loading *loading)
{
	struct unwind_known_file *items = loading->files.items, *oldest = NULL;
	uint32_t now = unwind_age(kernel_time__now()), most = 0;

	for (size_t i = 0; i < loading->files.nr; i++) {
		uint32_t idle = idle_for(loading, &items[i], now);

		if (items[i].wanted_by || items[i].is_read || idle <= most)
			continue;
		most = idle;
		oldest = &items[i];
	}
	if (!oldest)
		return false;
	forget_file(loading, oldest);
	return true;
}

/* 0, -ENOMEM, or -ENOSPC if all files are in use. */
static int add_file(struct loading *loading, const struct mapped_file *file, uint32_t *index)
{
	int err = unwind_files__add(&loading->files, file, index);

	if (err == -ENOSPC && forget_oldest(loading))
		err = unwind_files__add(&loading->files, file, index);
	return err;
}

/* As what is no program, at whatever time it was looked at; NULL if it is not known so. */
static const struct unwind_known_file *find_no_program(const struct loading *loading,
						       const struct mapped_file *file)
{
	struct mapped_file at_any_time;

	mapped_file__set_at_any_time(&at_any_time, file);
	return unwind_files__find(&loading->files, &at_any_time);
}

static void note_no_program(struct loading *loading, const struct unwind_mapped *mapped)
{
	struct unwind_known_file *file;
	struct mapped_file at_any_time;
	uint32_t index;

	mapped_file__set_at_any_time(&at_any_time, &mapped->file);
	if (add_file(loading, &at_any_time, &index))
		return;
	file = &loading->files.items[index];
	file->mapped = *mapped;
	file->mapped.file = at_any_time;
	file->heard = unwind_age(kernel_time__now());
	unwind_files__set_module(&loading->files, index, UNWIND_NO_MODULE);
	put_file(loading, file);
}

static void note_whether_program(struct loading *loading, const struct unwind_mapped *mapped)
{
	const struct unwind_known_file *before = find_no_program(loading, &mapped->file);

	if (mapped->source == UNWIND_SOURCE_OTHER)
		note_no_program(loading, mapped);
	else if (before)
		forget_file(loading, before);
}

/* A process has the file mapped, or had it. */
static void take_found(struct loading *loading, pid_t pid, const struct unwind_mapped *mapped)
{
	struct unwind_known_file *file;
	uint32_t index;

	if (mapped->source == UNWIND_SOURCE_NONE)
		return;
	note_whether_program(loading, mapped);
	if (add_file(loading, &mapped->file, &index))
		return;
	file = &loading->files.items[index];
	if (!unwind_known_file__is_found(file)) {
		status_of(loading)->nr_refused -= file->failures >= FAILURES_MAX;
		file->failures = 0;
		file->retry = 0;
		file->mapped = *mapped;
		number_file(loading, index, pid);
		/* A walk that came to it has wanted tables, for which there is no place. */
		if (file->module >= UNWIND_MODULES)
			file->wanted_by = 0;
	}
	want_file(loading, file, pid, mapped->start);
}

/* Called in a child: it has been opened, and passed on, before. */
static bool is_found(const void *context, const struct mapped_file *file)
{
	const struct loading *loading = context;
	const struct unwind_known_file *known = unwind_files__find(&loading->files, file);

	return known && unwind_known_file__is_found(known);
}

/* Of a process that has ended, or does not answer, no file is found. */
static void read_process(struct loading *loading, pid_t pid)
{
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;
	int nr = unwind_reader__mappings(pid, &loading->avoided, &loading->identifier,
					 &loading->keeper, &mapped);

	note_if_starved(loading, nr);
	for (int i = 0; i < nr; i++)
		take_found(loading, pid, &mapped[i]);
}

static void note_missed(struct loading *loading, struct unwind_known_file *file)
{
	note_failure(loading, file);
	if (file->module >= UNWIND_MODULES)
		return;
	__atomic_store_n(&loading->told->modules.items[file->module].missed, true,
			 __ATOMIC_RELEASE);
	if (loading->loads_tables)
		unwind_tables__set_module(&loading->tables, file->module, UNWIND_MODULE_DELAYED);
}

/* Files that one child looks for. */
#define LOOKS_MAX 16

static int compare_pids(const void *one, const void *other)
{
	const struct unwind_look *a = one, *b = other;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* The most wanted files that are not found, by process; nobody forgets them meanwhile. */
static size_t choose_looks(struct loading *loading, struct unwind_look looks[LOOKS_MAX])
{
	uint32_t index;
	size_t nr = 0;

	while (nr < LOOKS_MAX && (index = most_wanted(loading, false)) != UNWIND_FILE_NONE) {
		struct unwind_known_file *file = &loading->files.items[index];

		looks[nr] = (struct unwind_look){.number = index,
						 .pid = take_turn(loading, file),
						 .start = file->wanted_start,
						 .file = file->mapped.file};
		memcpy(looks[nr].place, file->mapped.path, sizeof(looks[nr].place));
		nr++;
	}
	qsort(looks, nr, sizeof(looks[0]), compare_pids);
	return nr;
}

/* Its entry is the loader's to forget again. */
static void take_look(struct loading *loading, const struct unwind_look *look)
{
	const struct unwind_known_file *file, *no_program;
	struct unwind_mapped mapped;

	loading->files.items[look->number].is_read = false;
	take_found(loading, look->pid, &look->mapped);
	file = unwind_files__find(&loading->files, &look->file);
	if (!file || unwind_known_file__is_found(file))
		return;
	/* It may have been written to since the walk. */
	no_program = find_no_program(loading, &look->file);
	if (no_program) {
		mapped = no_program->mapped;
		mapped.file = look->file;
		take_found(loading, look->pid, &mapped);
	} else {
		note_missed(loading, &loading->files.items[file - loading->files.items]);
	}
}

/* They are wanted as before. */
static void put_back(struct loading *loading, const struct unwind_look *look)
{
	loading->files.items[look->number].is_read = false;
	loading->files.items[look->number].wanted_by = look->pid;
}

/* Find files that walks have come to. True if there were any. */
static bool find_files(struct loading *loading)
{
	struct unwind_look looks[LOOKS_MAX];
	size_t nr = choose_looks(loading, looks), done = nr;
	int result;

	if (!nr)
		return false;
	result = unwind_reader__look(looks, nr, &loading->avoided, &loading->identifier,
				     &loading->keeper);
	note_if_starved(loading, result);
	if (result >= 0)
		done = (size_t)result;
	for (size_t i = 0; i < done; i++)
		take_look(loading, &looks[i]);
	for (size_t i = done; i < nr; i++)
		put_back(loading, &looks[i]);
	return true;
}

/* ---- what a command needs ---- */

/* Files that are asked for before a command runs; others are loaded when walks come to them. */
#define NEEDED_MAX 512

/* No process has them yet: they are read by their paths. */
static void take_needed(struct loading *loading, const struct unwind_mapped *mapped, int nr)
{
	/* A file system does not answer, or there is no memory. */
	if (nr < 0)
		status_of(loading)->nr_late++;
	for (int i = 0; i < nr; i++)
		take_found(loading, getpid(), &mapped[i]);
}

/* True for a file that nobody has asked for, and for the folders of those that come behind. */
static bool is_new_need(struct loading *loading, const char *text)
{
	size_t nr = loading->needed.nr;
	uint32_t number;

	return text[0] == ELF_NEED_RUN_PATH ||
	       (nr < NEEDED_MAX && !text_set__add(&loading->needed, text, &number) && number == nr);
}

static int sink_needs(void *context, const char *texts, size_t size)
{
	struct loading *loading = context;
	const struct unwind_known_file *user = &loading->files.items[loading->loaded_file];
	char path[UNWIND_PATH_MAX], new[UNWIND_NEEDS_MAX];
	struct unwind_needs needs = {.texts = new, .path = path};

	for (const char *text = texts; text < texts + size; text += strlen(text) + 1) {
		size_t length = strlen(text) + 1;

		if (!is_new_need(loading, text))
			continue;
		memcpy(new + needs.size, text, length);
		needs.size += length;
	}
	memcpy(path, user->mapped.path, sizeof(path));
	if (needs.size) {
		CLEANUP_FREE struct unwind_mapped *mapped = NULL;
		int nr = unwind_reader__needed(&needs, &loading->avoided, &loading->identifier,
					       &loading->keeper, &mapped);

		take_needed(loading, mapped, nr);
	}
	return 0;
}

/* Begin with a program: what that needs is known when its own table has come. */
static void need_program(struct loading *loading, const char *path)
{
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;
	int nr = unwind_reader__program(path, &loading->avoided, &loading->identifier,
					&loading->keeper, &mapped);

	take_needed(loading, mapped, nr);
}

/* ---- what is heard ---- */

/* The path of the names, the last of which is first; "" if it is not known. */
static void join_names(const struct unwind_request *request, char path[UNWIND_PATH_MAX])
{
	char whole[PLACE_NAMES * (PLACE_NAME_MAX + 1)] = "";
	size_t length = 0;

	for (uint32_t i = request->nr_names < PLACE_NAMES ? request->nr_names : 0; i--;)
		length += (size_t)snprintf(whole + length, sizeof(whole) - length, "/%.*s",
					   PLACE_NAME_MAX - 1, request->names[i]);
	unwind_path__set(path, whole);
}

/* The file that a request is about; UNWIND_FILE_NONE if there is no room for it. */
static uint32_t asked_file(struct loading *loading, const struct unwind_request *request)
{
	uint32_t index;

	if (!request->unheard)
		return request->module < UNWIND_MODULES ?
			       unwind_files__with_module(&loading->files, request->module) :
			       UNWIND_FILE_NONE;
	if (add_file(loading, &request->file, &index))
		return UNWIND_FILE_NONE;
	if (!unwind_known_file__is_found(&loading->files.items[index]))
		join_names(request, loading->files.items[index].mapped.path);
	return index;
}

/* Walks have given a file a number. It need not be the first, if it was forgotten between them. */
static void take_number(struct loading *loading, uint32_t index, uint32_t number, pid_t pid)
{
	struct unwind_known_file *file = &loading->files.items[index];

	if (number < UNWIND_MODULES) {
		tell_of_file(loading, number, &file->mapped, pid);
		if (file->module == UNWIND_UNKNOWN_MODULE)
			unwind_files__set_module(&loading->files, index, number);
	}
	if (file->module != UNWIND_UNKNOWN_MODULE)
		put_file(loading, file);
}

/* All processes have the same vDSO, whose identity is all zero. */
static bool is_vdso(const struct unwind_request *request)
{
	return request->unheard && !request->file.inode && !request->file.device;
}

static void say_request(const struct loading *loading, const struct unwind_request *request,
			uint32_t index)
{
	if (request->module == UNWIND_NO_MODULE)
		debug_log__say(DEBUG_LOG_WALK, "a walk of %u came to code in no file, at %" PRIx64,
			       request->tgid, (uint64_t)request->start);
	else if (index == UNWIND_FILE_NONE)
		debug_log__say(DEBUG_LOG_WALK, "a walk of %u came to module %u, which is forgotten",
			       request->tgid, request->module);
	else
		debug_log__say(DEBUG_LOG_WALK, "a walk of %u came to module %u, %s, at %" PRIx64,
			       request->tgid, request->module,
			       loading->files.items[index].mapped.path, (uint64_t)request->start);
}

static void take_request(struct loading *loading, const struct unwind_request *request)
{
	struct unwind_known_file *file;
	uint32_t index;

	if (request->module == UNWIND_NO_MODULE && request->program && loading->keeper.socket)
		generators__want(&loading->generators, (pid_t)request->tgid, request->program);
	index = asked_file(loading, request);
	say_request(loading, request, index);
	if (index == UNWIND_FILE_NONE)
		return;
	file = &loading->files.items[index];
	note_walk(file);
	if (request->unheard)
		take_number(loading, index, request->module, (pid_t)request->tgid);
	/*
	 * If all processes are traced, each child that reads files would ask for another one. A
	 * child has our mappings from its start.
	 */
	if (is_vdso(request))
		want_file(loading, file, getpid(), getauxval(AT_SYSINFO_EHDR));
	else if (reader_child__is_own((pid_t)request->tgid))
		want_file(loading, file, getpid(), request->start);
	else
		want_file(loading, file, (pid_t)request->tgid, request->start);
}

static void take_requests(struct loading *loading)
{
	struct unwind_request request;

	ring__look(&loading->requests);
	while (ring__read(&loading->requests, &request, sizeof(request)) == sizeof(request))
		take_request(loading, &request);
	ring__free_read(&loading->requests);
}

/* ---- stacks that are walked later ---- */

/* A report waits so long for the tables of its last stacks, and for files that are to be found. */
#define REPORT_TABLES_MAX (200 * MILLISECONDS)
#define REPORT_FILES_MAX  NANOSECONDS

/*
 * A child walks all that has come in so long: it costs more than some walks. At least three
 * quarters of the time are left for files.
 */
#define WALK_AGAIN  (5 * MILLISECONDS)
#define WALKS_SHARE 4

/*
 * The ring has room for some 100 ms; to find files, and to load a table, can take longer. False if
 * stacks have to be walked before more are taken.
 */
static bool take_meanwhile(void *context)
{
	struct loading *loading = context;

	return later__take(&loading->later, want_files_of, loading);
}

/*
 * What is in the ring now, which is less than what can be kept: once more than that has come, all
 * are walked by the tables that there are. Where stacks come faster than that goes, files have
 * their turn all the same.
 */
static void take_stacks(struct loading *loading)
{
	if (take_meanwhile(loading))
		return;
	later__walk(&loading->later, &loading->tables, true);
	(void)take_meanwhile(loading);
}

static void walk_stacks(struct loading *loading)
{
	uint64_t now = monotonic_now(), took;

	if (now < loading->walk_after && !loading->later.nr_asked_for)
		return;
	later__walk(&loading->later, &loading->tables, false);
	took = monotonic_now() - now;
	loading->walk_after =
		now + (took * WALKS_SHARE > WALK_AGAIN ? took * WALKS_SHARE : WALK_AGAIN);
}

/* ---- all of it ---- */

/* Load the file that was read ahead, if it is ready. Returns true if there was one. */
static bool load_wanted_file(struct loading *loading)
{
	const struct unwind_sink sink = {.context = loading,
					 .begin = sink_begin,
					 .page = sink_page,
					 .needs = loading->holds_command ? sink_needs : NULL};
	struct unwind_table_reader *reader;
	uint32_t number;
	int err;

	read_ahead(loading);
	if (!loading->ahead || !unwind_table_reader__is_ready(loading->ahead))
		return false;
	reader = loading->ahead;
	number = loading->loaded_file = loading->ahead_file;
	loading->ahead = NULL;
	read_ahead(loading);
	err = unwind_table_reader__finish(reader, &sink);
	end_file(loading, number, err);
	return true;
}

/*
 * Find files, and load one: neither waits until there is nothing to do for the other. Then other
 * requests are heard. True if there was any.
 */
static bool load_wanted(struct loading *loading)
{
	bool has_found = find_files(loading);

	return load_wanted_file(loading) || has_found;
}

static struct pollfd poll_ahead(const struct loading *loading)
{
	return loading->ahead ? unwind_table_reader__poll(loading->ahead) :
				(struct pollfd){.fd = -1};
}

static uint32_t count_wanted(const struct loading *loading)
{
	uint32_t nr = loading->ahead != NULL;

	for (size_t i = 0; i < loading->files.nr; i++)
		nr += loading->files.items[i].wanted_by != 0;
	return nr;
}

/*
 * To read the mappings of a process takes 2 ms. When so many in a row have nothing new, all are
 * likely to run one program; what others have is loaded when walks come to it.
 */
static void read_first(struct loading *loading, const struct unwind_first *first)
{
	size_t alike = 0;

	for (size_t i = 0; i < first->pids.nr && monotonic_now() < first->until; i++) {
		size_t before = loading->files.nr;

		read_process(loading, first->pids.pids[i]);
		alike = loading->files.nr == before ? alike + 1 : 0;
		if (first->alike && alike == first->alike)
			return;
	}
}

/* What is left when their time is over is loaded later. */
static void load_first(struct loading *loading, const struct unwind_first *first)
{
	loading->holds_command = first->program != NULL;
	if (first->program)
		need_program(loading, first->program);
	read_first(loading, first);
	for (bool busy = true; (busy || loading->ahead) && monotonic_now() < first->until;
	     busy = load_wanted(loading)) {
		struct pollfd polled[] = {poll_ahead(loading)};

		poll(polled, ARRAY_SIZE(polled), busy ? 0 : WAIT_MS);
	}
	loading->holds_command = false;
	text_set__release(&loading->needed);
	status_of(loading)->nr_late += count_wanted(loading);
}

/* Whether the parent is still there. It sends a byte, and waits until it comes back. */
static bool hear_parent(struct loading *loading, int socket)
{
	uint64_t now = monotonic_now();

	if (recv(socket, &loading->asked, 1, MSG_DONTWAIT) != 1)
		return false;
	loading->waits_until = now + REPORT_FILES_MAX;
	take_requests(loading);
	take_stacks(loading);
	later__ask_for_all(&loading->later, now + REPORT_TABLES_MAX);
	return true;
}

/* The parent waits until all files are found that walks have come to, and stacks are walked. */
static void answer_parent(struct loading *loading, int socket, bool looks)
{
	bool all_found = !looks && most_wanted(loading, false) == UNWIND_FILE_NONE;

	if (!loading->waits_until || loading->later.nr_asked_for ||
	    (!all_found && monotonic_now() < loading->waits_until))
		return;
	(void)!write(socket, &loading->asked, 1);
	loading->waits_until = 0;
}

/* Run until the parent is gone. */
static void run(struct loading *loading, int socket)
{
	struct pollfd polled[] = {
		{.fd = socket, .events = POLLIN},
		{.fd = loading->requests.fd, .events = POLLIN},
		{.fd = loading->later.walked ? loading->later.ring.fd : -1, .events = POLLIN},
		{.fd = -1},
		{.fd = -1}};

	(void)!write(socket, "", 1);
	for (bool busy = false;; busy = load_wanted(loading)) {
		bool looks = generators__go(&loading->generators, loading->keeper.socket);
		bool waits = loading->ahead || looks || loading->later.nr || loading->waits_until;

		walk_stacks(loading);
		answer_parent(loading, socket, looks);
		polled[3] = poll_ahead(loading);
		polled[4] = generators__poll(&loading->generators);
		if (poll(polled, ARRAY_SIZE(polled),
			 busy  ? 0 :
			 waits ? WAIT_MS :
				 -1) < 0 &&
		    errno != EINTR)
			return;
		if (polled[0].revents && !hear_parent(loading, socket))
			return;
		take_requests(loading);
		take_stacks(loading);
	}
}

int unwind_loading__run(const struct unwind_maps *maps, const struct unwind_identifier *identifier,
			const struct unwind_first *first, const struct later_setup *later,
			uint64_t memory, int socket, int files, struct unwind_told *told)
{
	static struct loading loading;
	struct error error;
	int err;

	loading.told = told;
	loading.identifier = *identifier;
	loading.keeper =
		(struct unwind_keeper){.socket = files, .has = is_found, .context = &loading};
	loading.loads_tables = memory != 0;
	err = unwind_tables__open(&loading.tables, maps, memory);
	if (!err)
		err = ring__open(&loading.requests, maps->requests, &error);
	if (!err)
		err = later__open(&loading.later, later);
	if (err)
		return err;
	if (loading.later.walked)
		reader_child__attend(loading.later.ring.fd, take_meanwhile, &loading);
	load_first(&loading, first);
	run(&loading, socket);
	return 0;
}
