// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From questions to answers:
 *
 *   process  ->  mapping  ->  file (by device and inode)  ->  address in the file
 *
 * and then file by file: all addresses that are wanted in a file, by whatever
 * process, are found in one pass over its symbols. An address in no file that is a
 * program may be code that the process has generated: its JIT map is asked.
 */
#include "sym/address/user_namer.h"
#include "sym/process/supervised.h"
#include "sym/util/descriptors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sym/address/file_batch.h"
#include "sym/address/file_names.h"
#include "sym/address/file_places.h"
#include "sym/address/jit_index.h"
#include "sym/address/jit_map.h"
#include "sym/elf/demangle.h"
#include "sym/elf/symbols.h"
#include "sym/process/file_identity.h"
#include "sym/process/passed_file.h"
#include "sym/process/process.h"
#include "sym/process/remember.h"
#include "sym/process/remembered.h"
#include "sym/process/vdso.h"
#include "sym/process/view.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/*
 * Most descriptors that we hold open, whatever a process has mapped: a quarter of what the program
 * may have for remembered processes, another quarter for the files and roots of a batch, but
 * neither more than this.
 */
#define FILES_MAX 1000

struct user_namer {
	struct supervisor supervisor;
	struct arena *names;
	struct file_names of_files;
	struct file_places *places; /* NULL: they are not wanted */
	struct remembered_list remembered;
	struct jit_index_list jit_indexes;
	size_t files_max;
	int vdso_fd; /* or -1 */
};

int user_namer__new(struct user_namer **out, struct arena *names, const struct avoid_list *avoided,
		    struct progress *progress, const struct sym_settings *settings)
{
	struct user_namer *namer = calloc(1, sizeof(*namer));
	struct rlimit limit;

	if (!namer)
		return -ENOMEM;
	namer->names = names;
	namer->supervisor = (struct supervisor){.avoided = avoided, .progress = progress};
	namer->files_max = FILES_MAX;
	namer->vdso_fd = vdso__open();
	namer->of_files = (struct file_names){.settings = settings,
					      .supervisor = &namer->supervisor,
					      .names = names,
					      .demangle_patience = DEMANGLE_PATIENCE};
	/* The user has been told before if the folder cannot be read. */
	(void)debug_files__open(&namer->of_files.debug_files, settings, &namer->supervisor);
	if ((settings->inlined || settings->lines) &&
	    file_places__new(&namer->places, &namer->of_files)) {
		free(namer);
		return -ENOMEM;
	}
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / 4 < FILES_MAX)
		namer->files_max = limit.rlim_cur / 4;
	namer->remembered = (struct remembered_list){.supervisor = &namer->supervisor,
						     .files_max = namer->files_max};
	*out = namer;
	return 0;
}

/* A query in memory without a program: the JIT map of its process has names by address. */
struct jit_question {
	struct sym_query *query;
	pid_t task;		       /* as in struct process */
	struct remembered *remembered; /* with a reference; or NULL */
	bool ended; /* only what is remembered of it, or was passed, can be read */
};

/* Collected by a call of user_namer__name() before it asks the files. */
struct batch {
	struct file_batch files;
	struct batch_root root;		    /* of the process at hand */
	struct jit_question *jit_questions; /* process by process */
	size_t nr_jit_questions, jit_questions_capacity;
};

static void batch__emit(const struct batch *batch, const struct sym_query *query)
{
	batch->files.caller->emit(batch->files.caller->context, query);
}

static void batch__pause(const struct batch *batch)
{
	batch->files.caller->pause(batch->files.caller->context);
}

static void batch__release(struct user_namer *namer, struct batch *batch)
{
	file_batch__release(&batch->files);
	for (size_t i = 0; i < batch->nr_jit_questions; i++)
		remembered_list__put(&namer->remembered, batch->jit_questions[i].remembered);
	free(batch->jit_questions);
}

static int compare_files(const struct sym_query *a, const struct sym_query *b)
{
	int order = COMPARE(a->in_file, b->in_file);

	if (!order && a->in_file)
		order = COMPARE(a->file.device, b->file.device);
	if (!order && a->in_file)
		order = COMPARE(a->file.inode, b->file.inode);
	if (!order && a->in_file)
		order = COMPARE(a->file.size, b->file.size);
	if (!order && a->in_file)
		order = COMPARE(a->file.modified, b->file.modified);
	return order;
}

static int compare_programs(const struct sym_query *a, const struct sym_query *b)
{
	int order = COMPARE(a->pid, b->pid);

	return order ? order : COMPARE(a->program, b->program);
}

/* By program, then by the file that the address is in, then by address. */
static int compare_queries(const void *a, const void *b)
{
	const struct sym_query *const *left = a, *const *right = b;
	int order = compare_programs(*left, *right);

	if (!order)
		order = compare_files(*left, *right);
	return order ? order :
		       COMPARE(sym_query__lookup_address(*left), sym_query__lookup_address(*right));
}

/* The module of a query, from the path of its mapping. Returns 0 or -ENOMEM. */
static int module_name(struct arena *names, const char *path, const char **module)
{
	size_t length;
	const char *file = sym_module__name(path, &length);

	*module = length ? arena__copy_string(names, file, length) : NULL;
	return length && !*module ? -ENOMEM : 0;
}

/* Ask the file about a query that lies in a mapping of it. */
static int ask_file(struct batch *batch, size_t file, const struct mapping *mapping,
		    struct sym_query *query)
{
	uint64_t lookup = sym_query__lookup_address(query);
	uint64_t address;

	if (!file_batch__address(&batch->files, file, mapping, lookup, &address)) {
		batch__emit(batch, query);
		return 0;
	}
	query->module_offset = address + (query->address - lookup);
	return file_batch__ask(
		&batch->files,
		&(struct file_question){.file = file, .address = address, .query = query});
}

/*
 * Ask about memory without a file, or with one that is no program: generated code, perhaps. view:
 * all zero if the program is gone.
 */
static int ask_jit_map(struct batch *batch, const struct process_view *view,
		       struct sym_query *query)
{
	query->generated = true;
	if (ARRAY_GROW(batch->jit_questions, batch->nr_jit_questions,
		       batch->jit_questions_capacity))
		return -ENOMEM;
	batch->jit_questions[batch->nr_jit_questions++] = (struct jit_question){
		.query = query,
		.task = view->process ? view->process->task : 0,
		.remembered = view->remembered ? remembered__get(view->remembered) : NULL,
		.ended = view->ended || !view->process,
	};
	return 0;
}

/* Add the file of a mapping to the batch. Returns 0 or a negative errno. */
static int add_file(struct user_namer *namer, struct batch *batch, const struct process_view *view,
		    const struct mapping *mapping, size_t *file)
{
	struct sym_file added = {
		.device = mapping->device,
		.pid = view->process->pid,
		.path = mapping->path,
		.root_identity = batch->root.identity,
		.root = batch->root.fd,
	};

	added.fd = vdso__is_ours(mapping) ?
			   descriptor__copy(namer->vdso_fd) :
			   process_view__open_file(view, &namer->remembered, mapping);
	return added.fd < 0 ? added.fd :
			      file_batch__add(&batch->files, &added, namer->of_files.names, file);
}

/* Make room for one more file or root: if there is none, answer all questions so far. */
static int make_room(struct user_namer *namer, struct batch *batch)
{
	int err;

	if (batch->files.nr_files + batch->files.nr_roots < namer->files_max)
		return 0;
	err = file_batch__answer_names(&batch->files, &namer->of_files);
	if (!err && namer->places)
		err = file_batch__answer_places(&batch->files, namer->places);
	file_batch__clear(&batch->files, &batch->root);
	return err;
}

/* Without a descriptor some names are missing: that is no failure, but is said. */
static int note_shortage(const struct user_namer *namer, int err)
{
	if (err != -EMFILE && err != -ENFILE)
		return err;
	namer->supervisor.progress->left_out = true;
	return 0;
}

/* Where queries lie, and what is there. */
struct place {
	const struct mapping *mapping; /* NULL: nothing is known */
	size_t file;		       /* of the mapping, in the batch, if unread is 0 */
	int unread;		       /* why the file is not in the batch; a negative errno */
	bool is_another;	       /* another file than the one that was asked for */
};

static int open_mapping(struct user_namer *namer, struct batch *batch,
			const struct process_view *view, const struct mapping *mapping,
			struct place *place)
{
	int err = make_room(namer, batch);

	if (err)
		return err;
	batch__pause(batch);
	*place = (struct place){.mapping = mapping};
	place->unread = add_file(namer, batch, view, mapping, &place->file);
	(void)note_shortage(namer, place->unread);
	return place->unread == -ENOMEM ? -ENOMEM : 0;
}

static bool is_another(const struct batch *batch, const struct place *place,
		       const struct sym_file_id *file)
{
	return !place->unread && file->inode &&
	       !file_identity__is(&batch->files.files[place->file].identity, file);
}

/* Find the mapping of the file among those with its device and inode; else take the first one. */
static int find_in_file(struct user_namer *namer, struct batch *batch,
			const struct process_view *view, const struct mapping_index *index,
			const struct sym_query *query, struct place *place)
{
	const struct mapping *found[MAPPING_FILES_MAX];
	size_t nr =
		mapping_index__find(index, &query->file, sym_query__lookup_address(query), found);

	for (size_t i = 0; i < nr; i++) {
		struct place next;
		int err = open_mapping(namer, batch, view, found[i], &next);

		if (err)
			return err;
		next.is_another = is_another(batch, &next, &query->file);
		if (i == 0 || (!next.unread && !next.is_another))
			*place = next;
		if (!next.unread && !next.is_another)
			break;
	}
	return 0;
}

/* *place is all zero. */
static int find_place(struct user_namer *namer, struct batch *batch,
		      const struct process_view *view, const struct mapping_index *index,
		      const struct sym_query *query, struct place *place)
{
	const struct mapping *mapping;

	if (query->in_file)
		return find_in_file(namer, batch, view, index, query, place);
	mapping = mapping_list__find(&view->process->mappings, sym_query__lookup_address(query));
	return mapping ? open_mapping(namer, batch, view, mapping, place) : 0;
}

/* Turn the query's address in the file into that in the process. */
static void place_in_process(const struct mapping *mapping, struct sym_query *query)
{
	if (query->in_file)
		query->address += mapping->start - mapping->offset;
	query->in_file = false;
}

/*
 * The file that was asked for is mapped, but cannot be opened any more: the address is no generated
 * code, and another process that has the file may be asked for it.
 */
static void leave_in_file(struct batch *batch, const char *module, struct sym_query *query)
{
	query->module = module;
	query->module_offset = query->address;
	batch__emit(batch, query);
}

/* Tell of queries which file they lie in. */
static int name_file(struct user_namer *namer, struct batch *batch, const struct place *place,
		     struct sym_query **queries, size_t nr)
{
	const struct mapping *mapping = place->mapping;
	struct sym_file *file;

	if (place->unread || place->is_another)
		return 0;
	file = &batch->files.files[place->file];
	if (sym_file__read_build_id(file, namer->names))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct sym_query *query = queries[i];

		query->path = file->path;
		query->build_id = file->build_id[0] ? file->build_id : NULL;
		query->file_offset = query->in_file ?
					     query->address :
					     query->address - mapping->start + mapping->offset;
	}
	return 0;
}

/* Ask about the queries that lie in a place. */
static int ask_place(struct user_namer *namer, struct batch *batch, const struct process_view *view,
		     const struct place *place, struct sym_query **queries, size_t nr)
{
	const struct mapping *mapping = place->mapping;
	const char *module;
	int err = module_name(namer->names, mapping->path, &module);

	if (!err && namer->of_files.settings->files)
		err = name_file(namer, batch, place, queries, nr);
	for (size_t i = 0; i < nr && !err; i++) {
		struct sym_query *query = queries[i];

		if (place->unread && query->in_file) {
			leave_in_file(batch, module, query);
			continue;
		}
		place_in_process(mapping, query);
		query->module = module;
		/* The offset in the file: it stays if no segment holds it, or it is no program. */
		query->module_offset = query->address - mapping->start + mapping->offset;
		if (place->unread)
			err = ask_jit_map(batch, view, query);
		else if (place->is_another)
			batch__emit(batch, query);
		else
			err = ask_file(batch, place->file, mapping, query);
	}
	return err;
}

/* Open the JIT map of a process: as it is now if it can be, else as it was. */
static int open_jit_map(struct user_namer *namer, const struct jit_question *question)
{
	const struct process process = {.pid = question->query->pid, .task = question->task};
	struct remembered *remembered = question->remembered;
	CLEANUP_CLOSE int passed = -1;
	int fd = -ENOENT;

	if (!question->ended)
		fd = supervisor__open_jit_map(&namer->supervisor, &process, -1);
	if (fd >= 0 && remembered)
		remembered_list__renew_jit_map(&namer->remembered, remembered, fd);
	if (fd < 0 && remembered && remembered->jit_fd >= 0)
		fd = supervisor__open_jit_map(&namer->supervisor, &process, remembered->jit_fd);
	if (fd >= 0)
		return fd;
	passed = remembered_list__copy_map(&namer->remembered, process.pid,
					   question->query->program);
	return passed < 0 ? passed : supervisor__open_jit_map(&namer->supervisor, &process, passed);
}

static int compare_jit_questions(const void *a, const void *b)
{
	const struct jit_question *left = a, *right = b;

	return COMPARE(sym_query__lookup_address(left->query),
		       sym_query__lookup_address(right->query));
}

/* Answer all questions to the JIT map of one process. */
static int answer_by_jit_map(struct user_namer *namer, struct batch *batch,
			     struct jit_question *questions, size_t nr)
{
	CLEANUP_FREE struct jit_lookup *lookups = calloc(nr, sizeof(*lookups));
	CLEANUP_CLOSE int fd = open_jit_map(namer, &questions[0]);
	int err = 0;

	if (!lookups)
		return -ENOMEM;
	(void)note_shortage(namer, fd);
	array__sort(questions, nr, sizeof(*questions), compare_jit_questions);
	for (size_t i = 0; i < nr; i++)
		lookups[i].address = sym_query__lookup_address(questions[i].query);
	if (fd >= 0)
		err = progress__note_left_out(namer->supervisor.progress,
					      jit_map__find(&namer->jit_indexes, fd, lookups, nr,
							    namer->names,
							    &namer->supervisor.progress->work));
	for (size_t i = 0; i < nr && !err; i++) {
		struct sym_query *query = questions[i].query;

		query->name = lookups[i].name;
		query->offset = query->name ? query->address - lookups[i].start : 0;
		batch__emit(batch, query);
	}
	return err;
}

/* Called when all programs have been asked: a map that does not answer costs no other names. */
static int batch__answer_by_jit_maps(struct user_namer *namer, struct batch *batch)
{
	struct jit_question *questions = batch->jit_questions;
	int err = 0;

	for (size_t first = 0, end; first < batch->nr_jit_questions && !err; first = end) {
		for (end = first + 1; end < batch->nr_jit_questions; end++)
			if (compare_programs(questions[end].query, questions[first].query))
				break;
		batch__pause(batch);
		err = answer_by_jit_map(namer, batch, &questions[first], end - first);
	}
	return err;
}

/* True if a query behind first lies in the mapping, too. */
static bool is_in(const struct mapping *mapping, const struct sym_query *first,
		  const struct sym_query *query)
{
	uint64_t end =
		first->in_file ? mapping->offset + (mapping->end - mapping->start) : mapping->end;

	return !compare_files(first, query) && sym_query__lookup_address(query) < end;
}

/* Ask about the queries of one process, sorted, as view shows it. */
static int ask_view(struct user_namer *namer, struct batch *batch, const struct process_view *view,
		    struct sym_query **queries, size_t nr)
{
	CLEANUP(mapping_index__release) struct mapping_index index = {0};
	int err = 0;

	for (size_t first = 0, end; first < nr && !err; first = end) {
		struct place place = {0};

		if (queries[first]->in_file && !index.items)
			err = mapping_index__make(&index, &view->process->mappings);
		if (!err)
			err = find_place(namer, batch, view, &index, queries[first], &place);
		for (end = first + 1; place.mapping && end < nr; end++)
			if (!is_in(place.mapping, queries[first], queries[end]))
				break;
		if (place.mapping && !err)
			err = ask_place(namer, batch, view, &place, queries + first, end - first);
	}
	return err;
}

/* The process as long as it runs the program that is asked for; else -ESRCH. */
static int view_program(struct user_namer *namer, struct process_view *view,
			const struct sym_query *query)
{
	int err = process_view__read(view, &namer->remembered, query->pid);

	if (err || !query->program || view->process->program == query->program)
		return err;
	process_view__release(view, &namer->remembered);
	*view = (struct process_view){0};
	return -ESRCH;
}

/* It has ended, or called exec(): its JIT map may have been passed. */
static int ask_gone_program(struct batch *batch, struct sym_query **queries, size_t nr)
{
	const struct process_view gone = {0};
	int err = 0;

	for (size_t i = 0; i < nr && !err && queries[i]->program; i++)
		if (!queries[i]->in_file)
			err = ask_jit_map(batch, &gone, queries[i]);
	return err;
}

static int ask_process(struct user_namer *namer, struct batch *batch, struct sym_query **queries,
		       size_t nr)
{
	struct process_view view = {0};
	int err;

	batch__pause(batch);
	err = view_program(namer, &view, queries[0]);
	if (err) {
		(void)note_shortage(namer, err);
		return err == -ENOMEM ? err : ask_gone_program(batch, queries, nr);
	}
	err = make_room(namer, batch);
	if (!err)
		err = file_batch__root(&batch->files, process_view__root_task(&view), &batch->root);
	if (!err)
		err = ask_view(namer, batch, &view, queries, nr);
	process_view__release(&view, &namer->remembered);
	return note_shortage(namer, err);
}

static int answer_all(struct user_namer *namer, struct batch *batch, struct sym_query **sorted,
		      size_t nr)
{
	int err = 0;

	if (namer->places)
		file_places__begin(namer->places);
	for (size_t first = 0, end; first < nr && !err; first = end) {
		for (end = first + 1; end < nr; end++)
			if (compare_programs(sorted[end], sorted[first]))
				break;
		err = ask_process(namer, batch, sorted + first, end - first);
	}
	if (!err)
		err = file_batch__answer_names(&batch->files, &namer->of_files);
	if (!err)
		err = batch__answer_by_jit_maps(namer, batch);
	return err || !namer->places ? err :
				       file_batch__answer_places(&batch->files, namer->places);
}

int user_namer__name(struct user_namer *namer, struct sym_query *queries, size_t nr,
		     const struct user_namer_caller *caller)
{
	CLEANUP_FREE struct sym_query **sorted = calloc(nr + 1, sizeof(*sorted));
	struct batch batch = {.files.caller = caller};
	int err;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		sorted[i] = &queries[i];
	array__sort(sorted, nr, sizeof(*sorted), compare_queries);
	err = answer_all(namer, &batch, sorted, nr);
	batch__release(namer, &batch);
	return err;
}

int user_namer__remember(struct user_namer *namer, struct remember *remember)
{
	return remember__process(&namer->remembered, remember);
}

int user_namer__hold_passed(struct user_namer *namer, int socket)
{
	struct passed_file file;
	int fd, found;

	while ((found = passed_file__peek(socket, &file)) > 0) {
		if (supervisor__avoids(&namer->supervisor, file.pid, file.device)) {
			passed_file__drop(socket);
			continue;
		}
		fd = passed_file__take(socket);
		if (fd >= 0)
			remembered_list__pass(&namer->remembered, &file, fd);
	}
	return found;
}
