// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/loading.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bpf/unwind_tables.h"
#include "core/kernel/ring.h"
#include "core/unwind/file_finder.h"
#include "core/unwind/generators.h"
#include "core/unwind/later.h"
#include "sym/util/array.h"
#include "sym/util/clock.h"
#include "sym/util/debug_log.h"
#include "sym/util/error.h"

/* The wait until a child is asked again if it goes on. */
#define WAIT_MS 20

struct loading {
	struct file_finder finder;
	struct ring requests;
	struct later later;
	uint64_t walk_after;  /* when stacks are walked again */
	uint64_t waits_until; /* the parent waits for files, until then at most; 0: it does not */
	unsigned char asked;  /* what it has sent */
	struct generators generators;
};

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
	struct unwind_files *files = &loading->finder.queue.files;
	uint32_t index;

	if (!request->unheard)
		return request->module < UNWIND_MODULES ?
			       unwind_files__with_module(files, request->module) :
			       UNWIND_FILE_NONE;
	if (file_finder__add(&loading->finder, &request->file, &index))
		return UNWIND_FILE_NONE;
	if (!unwind_known_file__is_found(&files->items[index]))
		join_names(request, files->items[index].mapped.path);
	return index;
}

/* Walks have given a file a number. It need not be the first, if it was forgotten between them. */
static void take_number(struct loading *loading, uint32_t index, uint32_t number, pid_t pid)
{
	struct unwind_known_file *file = &loading->finder.queue.files.items[index];

	if (number < UNWIND_MODULES) {
		file_finder__tell(&loading->finder, number, &file->mapped, pid);
		if (file->module == UNWIND_UNKNOWN_MODULE)
			unwind_files__set_module(&loading->finder.queue.files, index, number);
	}
	if (file->module != UNWIND_UNKNOWN_MODULE)
		file_finder__put(&loading->finder, file);
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
			       loading->finder.queue.files.items[index].mapped.path,
			       (uint64_t)request->start);
}

static void take_request(struct loading *loading, const struct unwind_request *request)
{
	struct table_queue *queue = &loading->finder.queue;
	struct unwind_known_file *file;
	uint32_t index;

	if (request->module == UNWIND_NO_MODULE && request->program &&
	    loading->finder.keeper.socket)
		generators__want(&loading->generators, (pid_t)request->tgid, request->program);
	index = asked_file(loading, request);
	say_request(loading, request, index);
	if (index == UNWIND_FILE_NONE)
		return;
	file = &queue->files.items[index];
	table_queue__note_walk(file);
	if (request->unheard)
		take_number(loading, index, request->module, (pid_t)request->tgid);
	/*
	 * If all processes are traced, each child that reads files would ask for another one. A
	 * child has our mappings from its start.
	 */
	if (is_vdso(request))
		table_queue__want(queue, file, getpid(), getauxval(AT_SYSINFO_EHDR));
	else if (reader_child__is_own((pid_t)request->tgid))
		table_queue__want(queue, file, getpid(), request->start);
	else
		table_queue__want(queue, file, (pid_t)request->tgid, request->start);
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

/* The walk has asked for files, but not for the same again within a while. */
static void want_files_of(void *context, const struct raw_stack *raw)
{
	struct table_queue *queue = context;
	bool is_own = reader_child__is_own((pid_t)raw->tgid);

	for (uint32_t i = 0; i < raw->nr_mappings && !is_own; i++) {
		const struct raw_mapping *mapping = &raw_stack__mappings(raw)[i];
		uint32_t index = mapping->module < UNWIND_MODULES ?
					 unwind_files__with_module(&queue->files, mapping->module) :
					 UNWIND_FILE_NONE;

		if (mapping->executable && index != UNWIND_FILE_NONE)
			table_queue__want(queue, &queue->files.items[index], (pid_t)raw->tgid,
					  mapping->start);
	}
}

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

	return later__take(&loading->later, want_files_of, &loading->finder.queue);
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
	later__walk(&loading->later, &loading->finder.queue.tables, true);
	(void)take_meanwhile(loading);
}

static void walk_stacks(struct loading *loading)
{
	uint64_t now = monotonic_now(), took;

	if (now < loading->walk_after && !loading->later.nr_asked_for)
		return;
	later__walk(&loading->later, &loading->finder.queue.tables, false);
	took = monotonic_now() - now;
	loading->walk_after =
		now + (took * WALKS_SHARE > WALK_AGAIN ? took * WALKS_SHARE : WALK_AGAIN);
}

/* ---- all of it ---- */

/*
 * Find files, and load one: neither waits until there is nothing to do for the other. Then other
 * requests are heard. True if there was any.
 */
static bool load_wanted(struct loading *loading)
{
	bool has_found = file_finder__look(&loading->finder);

	return table_queue__load(&loading->finder.queue) || has_found;
}

/*
 * To read the mappings of a process takes 2 ms. When so many in a row have nothing new, all are
 * likely to run one program; what others have is loaded when walks come to it.
 */
static void read_first(struct loading *loading, const struct unwind_first *first)
{
	size_t alike = 0;

	for (size_t i = 0; i < first->pids.nr && monotonic_now() < first->until; i++) {
		size_t before = loading->finder.queue.files.nr;

		file_finder__read_process(&loading->finder, first->pids.pids[i]);
		alike = loading->finder.queue.files.nr == before ? alike + 1 : 0;
		if (first->alike && alike == first->alike)
			return;
	}
}

/* What is left when their time is over is loaded later. */
static void load_first(struct loading *loading, const struct unwind_first *first)
{
	struct table_queue *queue = &loading->finder.queue;

	if (first->program) {
		queue->need = file_finder__need;
		queue->need_context = &loading->finder;
		file_finder__need_program(&loading->finder, first->program);
	}
	read_first(loading, first);
	for (bool busy = true; (busy || queue->ahead) && monotonic_now() < first->until;
	     busy = load_wanted(loading)) {
		struct pollfd polled[] = {table_queue__poll(queue)};

		poll(polled, ARRAY_SIZE(polled), busy ? 0 : WAIT_MS);
	}
	queue->need = NULL;
	text_set__release(&loading->finder.needed);
	table_queue__status(queue)->nr_late += table_queue__count(queue);
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
	bool all_found = !looks && table_queue__most_wanted(&loading->finder.queue, false) ==
					   UNWIND_FILE_NONE;

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
		bool looks = generators__go(&loading->generators, loading->finder.keeper.socket);
		bool waits = loading->finder.queue.ahead || looks || loading->later.nr ||
			     loading->waits_until;

		walk_stacks(loading);
		answer_parent(loading, socket, looks);
		polled[3] = table_queue__poll(&loading->finder.queue);
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

	loading.finder.queue.told = told;
	loading.finder.identifier = *identifier;
	loading.finder.keeper = (struct unwind_keeper){
		.socket = files, .has = file_finder__has, .context = &loading.finder};
	loading.finder.loads_tables = memory != 0;
	err = unwind_tables__open(&loading.finder.queue.tables, maps, memory);
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
