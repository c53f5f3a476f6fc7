// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/table_queue.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#include "core/kernel/kernel_time.h"
#include "core/unwind/modules.h"
#include "sym/cfi/table_reader.h"
#include "sym/util/clock.h"
#include "sym/util/debug_log.h"

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

/* True if walks have no use of what is known of the file. */
static bool lacks_tables(const struct table_queue *queue, const struct unwind_known_file *file)
{
	return !unwind_known_file__is_found(file) || file->module == UNWIND_UNKNOWN_MODULE ||
	       (file->module < UNWIND_MODULES &&
		(unwind_tables__state(&queue->tables, file->module) == UNWIND_MODULE_WANTED ||
		 unwind_tables__state(&queue->tables, file->module) == UNWIND_MODULE_DELAYED));
}

void table_queue__want(struct table_queue *queue, struct unwind_known_file *file, pid_t pid,
		       uint64_t start)
{
	uint64_t now = monotonic_now();

	file->heard = unwind_age(kernel_time__now());
	if (!lacks_tables(queue, file) || file->wanted_by || file->is_read || now < file->retry)
		return;
	/* The path has been tried already; only a running process helps. */
	if (file->failures && kill(pid, 0) && errno == ESRCH)
		return;
	file->wanted_by = pid;
	file->wanted_start = start;
	file->wanted = ++queue->wanted;
}

/* For a table without room: true if there is more room by now. */
static bool make_room(struct table_queue *queue, int err)
{
	if ((err != -E2BIG && err != -ENOSPC) ||
	    unwind_tables__give_back_oldest(&queue->tables) < 0)
		return false;
	debug_log__say(DEBUG_LOG_TABLES,
		       "no room: the table that was not used for longest is given "
		       "back");
	table_queue__status(queue)->nr_loaded--;
	table_queue__status(queue)->nr_given_back++;
	return true;
}

static int sink_begin(void *context, const struct unwind_table_head *head)
{
	struct table_queue *queue = context;
	int err;

	do
		err = unwind_tables__begin(&queue->tables, head);
	while (make_room(queue, err));
	return err;
}

static int sink_page(void *context, uint32_t page, const uint32_t *rows, uint32_t nr)
{
	struct table_queue *queue = context;
	int err;

	do
		err = unwind_tables__add_page(&queue->tables, page, rows, nr);
	while (make_room(queue, err));
	return err;
}

static int sink_needs(void *context, const char *texts, size_t size)
{
	const struct table_queue *queue = context;

	return queue->need(queue->need_context, texts, size);
}

/* Programs that live for a moment are gone, with their mounts, when their files are opened. */
void table_queue__note_failure(struct table_queue *queue, struct unwind_known_file *file)
{
	uint64_t pause = RETRY_FIRST << file->failures;

	file->retry = monotonic_now() + (pause < RETRY_MOST ? pause : RETRY_MOST);
	if (file->failures < FAILURES_MAX && ++file->failures == FAILURES_MAX)
		table_queue__status(queue)->nr_refused++;
}

void table_queue__forgive(struct table_queue *queue, struct unwind_known_file *file)
{
	table_queue__status(queue)->nr_refused -= file->failures >= FAILURES_MAX;
	file->failures = 0;
	file->retry = 0;
}

static void note_success(struct table_queue *queue, struct unwind_known_file *file)
{
	table_queue__status(queue)->nr_loaded++;
	table_queue__status(queue)->nr_refused -= file->failures >= FAILURES_MAX;
	table_queue__status(queue)->out_of_memory -= file->refusals > 0;
	file->failures = file->refusals = 0;
	file->retry = monotonic_now() + LOAD_AGAIN;
}

static void note_no_room(struct table_queue *queue, struct unwind_known_file *file)
{
	table_queue__status(queue)->out_of_memory += !file->refusals;
	if (file->refusals < REFUSALS_MAX)
		file->refusals++;
	file->retry = monotonic_now() + (ROOM_FIRST << (file->refusals - 1));
}

void table_queue__note_if_starved(struct table_queue *queue, int err)
{
	if (err == -EAGAIN || err == -EMFILE || err == -ENOMEM)
		table_queue__status(queue)->starved = (uint32_t)-err;
}

static enum unwind_module_state state_after(struct table_queue *queue,
					    struct unwind_known_file *file, int err)
{
	switch (err) {
	case 0:
		note_success(queue, file);
		return UNWIND_MODULE_LOADED;
	case -ENOENT:
	case -ENOEXEC:
	case -ENOTSUP:
		return UNWIND_MODULE_EMPTY;
	case -E2BIG:
	case -ENOSPC:
	case -EFBIG:
		note_no_room(queue, file);
		return UNWIND_MODULE_DELAYED;
	case -ESRCH:
	case -ESTALE:
	case -EACCES:
	case -ECANCELED:
	case -ETIMEDOUT: /* perhaps a busy disk; other devices are avoided, and cost nothing */
		table_queue__note_failure(queue, file);
		return UNWIND_MODULE_DELAYED;
	case -EAGAIN:
	case -EMFILE:
		table_queue__note_failure(queue, file);
		return UNWIND_MODULE_DELAYED;
	default:
		table_queue__status(queue)->nr_refused++;
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

static void end_file(struct table_queue *queue, uint32_t number, int err)
{
	struct unwind_known_file *file = &queue->files.items[number];
	enum unwind_module_state state = state_after(queue, file, err);
	uint64_t now = monotonic_now(), again = now + (now - file->began) * PAUSE_SHARE;

	if (state == UNWIND_MODULE_DELAYED && file->retry < again)
		file->retry = again;
	table_queue__note_if_starved(queue, err);
	file->is_read = false;
	say_state(file, state, err);
	unwind_tables__set_module(&queue->tables, file->module, state);
	table_queue__status(queue)->memory = unwind_shards__memory(&queue->tables.shards);
}

/* Those of the last seconds: in each second half of them is left. */
static uint32_t recent_walks(const struct unwind_known_file *file, uint64_t now)
{
	uint64_t seconds = now / NANOSECONDS - file->walked;

	return seconds < 32 ? file->walks >> seconds : 0;
}

void table_queue__note_walk(struct unwind_known_file *file)
{
	uint64_t now = monotonic_now();

	file->walks = recent_walks(file, now) + 1;
	file->walked = now / NANOSECONDS;
}

/* How many have been served since pid was, or SERVED_MAX. */
static unsigned int served_before(const struct table_queue *queue, pid_t pid)
{
	unsigned int nr = 0;

	while (nr < SERVED_MAX && queue->served[(queue->nr_served - 1 - nr) % SERVED_MAX] != pid)
		nr++;
	return nr;
}

static bool is_more_wanted(const struct table_queue *queue, const struct unwind_known_file *a,
			   const struct unwind_known_file *b, uint64_t now)
{
	unsigned int turn = served_before(queue, a->wanted_by);
	unsigned int other_turn = served_before(queue, b->wanted_by);
	uint32_t walks = recent_walks(a, now), other_walks = recent_walks(b, now);

	if (turn != other_turn)
		return turn > other_turn;
	return walks != other_walks ? walks > other_walks : a->wanted < b->wanted;
}

uint32_t table_queue__most_wanted(const struct table_queue *queue, bool found)
{
	const struct unwind_known_file *items = queue->files.items;
	uint32_t first = UNWIND_FILE_NONE;
	uint64_t now = monotonic_now();

	for (uint32_t i = 0; i < queue->files.nr; i++)
		if (items[i].wanted_by && unwind_known_file__is_found(&items[i]) == found &&
		    (first == UNWIND_FILE_NONE ||
		     is_more_wanted(queue, &items[i], &items[first], now)))
			first = i;
	return first;
}

pid_t table_queue__take_turn(struct table_queue *queue, struct unwind_known_file *file)
{
	pid_t pid = file->wanted_by;

	queue->served[queue->nr_served++ % SERVED_MAX] = pid;
	file->wanted_by = 0;
	file->is_read = true;
	return pid;
}

static int begin_file(struct table_queue *queue, uint32_t number,
		      struct unwind_table_reader **reader)
{
	struct unwind_known_file *file = &queue->files.items[number];
	struct unwind_mapped mapped = file->mapped;

	mapped.start = file->wanted_start;
	file->began = monotonic_now();
	return unwind_table_reader__start(reader, table_queue__take_turn(queue, file), &mapped,
					  &queue->avoided);
}

/* Have another CPU read the next file. */
static void read_ahead(struct table_queue *queue)
{
	while (!queue->ahead) {
		uint32_t number = table_queue__most_wanted(queue, true);
		int err;

		if (number == UNWIND_FILE_NONE)
			return;
		err = begin_file(queue, number, &queue->ahead);
		queue->ahead_file = number;
		if (err)
			end_file(queue, number, err);
	}
}

bool table_queue__load(struct table_queue *queue)
{
	const struct unwind_sink sink = {.context = queue,
					 .begin = sink_begin,
					 .page = sink_page,
					 .needs = queue->need ? sink_needs : NULL};
	struct unwind_table_reader *reader;
	uint32_t number;
	int err;

	read_ahead(queue);
	if (!queue->ahead || !unwind_table_reader__is_ready(queue->ahead))
		return false;
	reader = queue->ahead;
	number = queue->loaded_file = queue->ahead_file;
	queue->ahead = NULL;
	read_ahead(queue);
	err = unwind_table_reader__finish(reader, &sink);
	end_file(queue, number, err);
	return true;
}

struct pollfd table_queue__poll(const struct table_queue *queue)
{
	return queue->ahead ? unwind_table_reader__poll(queue->ahead) : (struct pollfd){.fd = -1};
}

uint32_t table_queue__count(const struct table_queue *queue)
{
	uint32_t nr = queue->ahead != NULL;

	for (size_t i = 0; i < queue->files.nr; i++)
		nr += queue->files.items[i].wanted_by != 0;
	return nr;
}
