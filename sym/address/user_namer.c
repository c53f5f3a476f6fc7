// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From questions to answers:
 *
 *   file and offset                            ->  address in the file
 *   process  ->  mapping  ->  file and offset  ->  address in the file
 *
 * and then file by file: all addresses that are wanted in a file, by whatever
 * process, are found in one pass over its symbols. An address in no file that is a
 * program may be code that the process has generated: its JIT map is asked.
 */
#include "sym/address/user_namer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sym/address/file_batch.h"
#include "sym/address/file_names.h"
#include "sym/address/file_places.h"
#include "sym/address/jit_index.h"
#include "sym/address/jit_questions.h"
#include "sym/elf/demangle.h"
#include "sym/process/file_identity.h"
#include "sym/process/held_files.h"
#include "sym/process/passed_file.h"
#include "sym/process/process.h"
#include "sym/process/supervised.h"
#include "sym/process/vdso.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/descriptors.h"

/*
 * Most descriptors that a batch has open for files and roots. If the program may not have four
 * times as many, it is a quarter of what it may; and so it is with files that are held.
 */
#define FILES_MAX 1000

struct user_namer {
	struct supervisor supervisor;
	struct arena *names;
	struct file_names of_files;
	struct file_places *places; /* NULL: they are not wanted */
	struct held_files held;
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
	namer->held.max = HELD_FILES_MAX;
	namer->held.maps_max = HELD_MAPS_MAX;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / 4 < FILES_MAX) {
		namer->files_max = limit.rlim_cur / 4;
		namer->held.max = namer->files_max + 1;
		namer->held.maps_max = namer->files_max / 4 + 1;
	}
	namer->held.supervisor = &namer->supervisor;
	*out = namer;
	return 0;
}

/* Collected by a call of user_namer__name() before it asks the files. */
struct batch {
	struct file_batch files;
	struct jit_questions generated;
	/* The process at hand, whose files are next; without a task if it cannot be read. */
	struct process process;
	int unread;		/* why it cannot; 0, or a negative errno */
	struct batch_root root; /* its root */
};

static void batch__pause(const struct batch *batch)
{
	batch->files.caller->pause(batch->files.caller->context);
}

static void batch__release(struct batch *batch)
{
	file_batch__release(&batch->files);
	jit_questions__release(&batch->generated);
	process__release(&batch->process);
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

static int note_shortage(const struct user_namer *namer, int err)
{
	return progress__note_left_out(namer->supervisor.progress, err);
}

/* Read the process that is next, unless it is the one at hand. Returns 0 or a negative errno. */
static int go_to_process(struct user_namer *namer, struct batch *batch, pid_t pid)
{
	int err = make_room(namer, batch);

	if (err || (batch->process.pid == pid && pid))
		return err;
	process__release(&batch->process);
	batch->process = (struct process){.pid = pid};
	batch->unread = supervisor__read_process(&namer->supervisor, &batch->process, pid);
	if (note_shortage(namer, batch->unread) == -ENOMEM)
		return -ENOMEM;
	err = file_batch__root(&batch->files, batch->process.task, &batch->root);
	if (err)
		batch->process.pid = 0; /* it is not at hand */
	return err;
}

/* Add a file, which the process at hand has by that path, to the batch. Takes over fd. */
static int add_file(struct user_namer *namer, struct batch *batch, int fd, dev_t device,
		    const char *path, size_t *file)
{
	const struct sym_file added = {
		.fd = fd,
		.device = device,
		.pid = batch->process.pid,
		.path = path,
		.root_identity = batch->root.identity,
		.root = batch->root.fd,
	};

	return fd < 0 ? fd : file_batch__add(&batch->files, &added, namer->names, file);
}

/* The module of queries, by the path of their file. Returns 0 or -ENOMEM. */
static int module_name(struct arena *names, const char *path, const char **module)
{
	size_t length;
	const char *file = sym_module__name(path, &length);

	*module = length ? arena__copy_string(names, file, length) : NULL;
	return length && !*module ? -ENOMEM : 0;
}

/* Ask a file of the batch about queries; shift makes their addresses offsets in the file. */
static int ask_file(struct user_namer *namer, struct batch *batch, size_t index, uint64_t shift,
		    struct sym_query **queries, size_t nr)
{
	struct sym_file *file = &batch->files.files[index];
	int err = 0;

	if (namer->of_files.settings->files)
		err = sym_file__read_build_id(file, namer->names);
	for (size_t i = 0; i < nr && !err; i++) {
		struct sym_query *query = queries[i];

		if (namer->of_files.settings->files) {
			query->path = file->path;
			query->build_id = file->build_id[0] ? file->build_id : NULL;
			query->file_offset = query->address + shift;
		}
		err = file_batch__ask(&batch->files, index, shift, query);
	}
	return err;
}

/* ---- addresses in files ---- */

static bool is_vdso(const struct sym_file_id *id)
{
	return !id->inode && !id->device;
}

/* A file that may be another one: only if it is not. */
static int verified(int owned_fd, const struct sym_file_id *id)
{
	CLEANUP_CLOSE int fd = owned_fd;
	struct file_identity now = {0};
	int err = fd < 0 ? fd : file_identity__read(&now, fd);

	if (err)
		return err;
	return file_identity__is(&now, id) ? TAKE_FD(fd) : -ESTALE;
}

/* Files that have one device and inode, as those of two subvolumes of btrfs can. */
#define ALIKE_MAX 8

/* Open a file where the process at hand has it mapped. */
static int open_in_process(const struct user_namer *namer, const struct batch *batch,
			   const struct sym_file_id *id)
{
	const struct mapping_list *list = &batch->process.mappings;
	const struct mapping *before = NULL;
	int fd = -ENOENT;

	for (size_t i = 0, tried = 0; i < list->nr && tried < ALIKE_MAX && fd < 0; i++) {
		const struct mapping *mapping = &list->mappings[i];

		if (mapping->device != id->device || mapping->inode != id->inode ||
		    (before && !strcmp(before->path, mapping->path)))
			continue;
		fd = verified(supervisor__open_file(&namer->supervisor, &batch->process, mapping),
			      id);
		before = mapping;
		tried++;
	}
	return fd;
}

/* Open a file by its path in our own root. */
static int open_by_path(const struct user_namer *namer, const struct sym_mapped_file *file)
{
	const struct process nobody = {.pid = file->pid};
	const struct mapping mapping = {
		.device = file->id.device, .inode = file->id.inode, .path = file->path};

	return verified(supervisor__open_file(&namer->supervisor, &nobody, &mapping), &file->id);
}

/* The process at hand is the file's, if it is still there. */
static int open_file(const struct user_namer *namer, const struct batch *batch,
		     const struct sym_mapped_file *file)
{
	const struct sym_file_id *id = &file->id;
	int fd;

	if (is_vdso(id))
		return descriptor__copy(namer->vdso_fd);
	if (supervisor__avoids(&namer->supervisor, file->pid, id->device))
		return -ECANCELED;
	fd = held_files__open(&namer->held, id, file->pid);
	if (fd >= 0 || fd == -ESTALE)
		return fd;
	fd = open_in_process(namer, batch, id);
	return fd >= 0 ? fd : open_by_path(namer, file);
}

/* A file that cannot be opened, or has become another one, names nothing. */
static int ask_in_file(struct user_namer *namer, struct batch *batch, struct sym_query **queries,
		       size_t nr)
{
	const struct sym_mapped_file *file = queries[0]->file;
	const char *module;
	size_t index;
	int err, unread;

	batch__pause(batch);
	err = go_to_process(namer, batch, file->pid);
	if (err)
		return err;
	unread = add_file(namer, batch, open_file(namer, batch, file), file->id.device, file->path,
			  &index);
	if (unread)
		return note_shortage(namer, unread) == -ENOMEM ? -ENOMEM : 0;
	err = module_name(namer->names, file->path, &module);
	if (err)
		return err;
	for (size_t i = 0; i < nr; i++) {
		queries[i]->module = module;
		/* It stays so if no segment holds it. */
		queries[i]->module_offset = queries[i]->address;
	}
	return ask_file(namer, batch, index, 0, queries, nr);
}

/* ---- addresses of programs ---- */

/* Ask about memory without a file, or with one that is no program: generated code, perhaps. */
static int ask_generated(struct batch *batch, pid_t task, struct sym_query **queries, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = jit_questions__add(&batch->generated, queries[i], task);
	return err;
}

static int open_mapping(const struct user_namer *namer, const struct batch *batch,
			const struct mapping *mapping)
{
	return vdso__is_ours(mapping) ?
		       descriptor__copy(namer->vdso_fd) :
		       supervisor__open_file(&namer->supervisor, &batch->process, mapping);
}

static int ask_in_mapping(struct user_namer *namer, struct batch *batch,
			  const struct mapping *mapping, struct sym_query **queries, size_t nr)
{
	const uint64_t shift = mapping->offset - mapping->start;
	const char *module;
	size_t index;
	int err, unread;

	batch__pause(batch);
	err = make_room(namer, batch);
	if (!err)
		err = module_name(namer->names, mapping->path, &module);
	if (err)
		return err;
	for (size_t i = 0; i < nr; i++) {
		queries[i]->module = module;
		queries[i]->module_offset = queries[i]->address + shift;
	}
	unread = add_file(namer, batch, open_mapping(namer, batch, mapping), mapping->device,
			  mapping->path, &index);
	if (!unread)
		return ask_file(namer, batch, index, shift, queries, nr);
	return note_shortage(namer, unread) == -ENOMEM ?
		       -ENOMEM :
		       ask_generated(batch, batch->process.task, queries, nr);
}

/* All of one program. Where nothing is mapped, nobody is asked. */
static int ask_program(struct user_namer *namer, struct batch *batch, struct sym_query **queries,
		       size_t nr)
{
	const uint64_t program = queries[0]->program;
	int err;

	batch__pause(batch);
	err = go_to_process(namer, batch, queries[0]->pid);
	if (err)
		return err;
	/* It has ended, or called exec(): its JIT map may have been passed. */
	if (batch->unread || (program && program != batch->process.program))
		return program ? ask_generated(batch, 0, queries, nr) : 0;
	for (size_t first = 0, end; first < nr && !err; first = end) {
		const struct mapping *mapping = mapping_list__find(
			&batch->process.mappings, sym_query__lookup_address(queries[first]));

		for (end = first + 1; mapping && end < nr; end++)
			if (sym_query__lookup_address(queries[end]) >= mapping->end)
				break;
		if (mapping)
			err = ask_in_mapping(namer, batch, mapping, queries + first, end - first);
	}
	return err;
}

/* ---- all of them ---- */

static int compare_files(const struct sym_mapped_file *a, const struct sym_mapped_file *b)
{
	int order = COMPARE(a->pid, b->pid);

	if (!order)
		order = COMPARE(a->id.device, b->id.device);
	if (!order)
		order = COMPARE(a->id.inode, b->id.inode);
	if (!order)
		order = COMPARE(a->id.size, b->id.size);
	return order ? order : COMPARE(a->id.modified, b->id.modified);
}

static int compare_programs(const struct sym_query *a, const struct sym_query *b)
{
	int order = COMPARE(a->pid, b->pid);

	return order ? order : COMPARE(a->program, b->program);
}

/* Who is asked: first files, of one process after the other, then programs. */
static int compare_places(const struct sym_query *a, const struct sym_query *b)
{
	if (a->in_file != b->in_file)
		return a->in_file ? -1 : 1;
	return a->in_file ? compare_files(a->file, b->file) : compare_programs(a, b);
}

static int compare_queries(const void *a, const void *b)
{
	const struct sym_query *const *left = a, *const *right = b;
	int order = compare_places(*left, *right);

	return order ? order :
		       COMPARE(sym_query__lookup_address(*left), sym_query__lookup_address(*right));
}

static int answer_all(struct user_namer *namer, struct batch *batch, struct sym_query **sorted,
		      size_t nr)
{
	const struct jit_source source = {
		.held = &namer->held, .indexes = &namer->jit_indexes, .names = namer->names};
	int err = 0;

	if (namer->places)
		file_places__begin(namer->places);
	for (size_t first = 0, end; first < nr && !err; first = end) {
		for (end = first + 1; end < nr; end++)
			if (compare_places(sorted[end], sorted[first]))
				break;
		err = (sorted[first]->in_file ? ask_in_file : ask_program)(
			namer, batch, sorted + first, end - first);
		err = note_shortage(namer, err);
	}
	if (!err)
		err = file_batch__answer_names(&batch->files, &namer->of_files);
	/* When all else is asked: a map that does not answer costs no other names. */
	if (!err)
		err = jit_questions__answer(&batch->generated, &source, batch->files.caller);
	return err || !namer->places ? err :
				       file_batch__answer_places(&batch->files, namer->places);
}

int user_namer__name(struct user_namer *namer, struct sym_query *queries, size_t nr,
		     const struct user_namer_caller *caller)
{
	CLEANUP_FREE struct sym_query **sorted = calloc(nr + 1, sizeof(*sorted));
	struct batch batch = {.files.caller = caller};
	size_t nr_sorted = 0;
	int err;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (!queries[i].in_file || queries[i].file)
			sorted[nr_sorted++] = &queries[i];
	array__sort(sorted, nr_sorted, sizeof(*sorted), compare_queries);
	err = answer_all(namer, &batch, sorted, nr_sorted);
	batch__release(&batch);
	return err;
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
			held_files__pass(&namer->held, &file, fd);
	}
	return found;
}
