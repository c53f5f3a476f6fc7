// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From questions to answers:
 *
 *   process  ->  mapping  ->  file (by device and inode)  ->  address in the file
 *
 * and then file by file: all addresses that are wanted in a file, by whatever
 * process, are found in one pass over its symbols.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/arena.h"
#include "core/util/array.h"
#include "core/util/cleanup.h"
#include "sym/elf_symbols.h"
#include "sym/kernel.h"
#include "sym/process.h"
#include "sym/sym.h"

/*
 * Descriptors that we hold open at most, whatever a process has mapped: a
 * quarter of what the program may have for remembered processes, another one
 * for the files of a batch, but no more than this.
 */
#define FILES_MAX 400

/* The same file whatever its name, as long as nobody has written to it. */
struct file_identity {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct sym_file {
	struct file_identity identity;
	struct elf_symbols elf;
	int fd; /* owned */
};

/* A process whose mappings were read before it could end; its files are open. */
struct remembered {
	struct process process;
	int *fds; /* by mapping; -1: could not be opened */
};

struct symbolizer {
	sym_kernel_print print;
	void *print_context;
	struct remembered *remembered;
	size_t nr_remembered, remembered_capacity;
	size_t remembered_files;
	size_t files_max;
	struct arena names;
};

int symbolizer__new(struct symbolizer **out, sym_kernel_print print, void *context)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
	struct rlimit limit;

	if (!symbolizer)
		return -ENOMEM;
	symbolizer->print = print;
	symbolizer->print_context = context;
	symbolizer->files_max = FILES_MAX;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / 4 < FILES_MAX)
		symbolizer->files_max = limit.rlim_cur / 4;
	*out = symbolizer;
	return 0;
}

static void remembered__release(struct remembered *remembered)
{
	for (size_t i = 0; remembered->fds && i < remembered->process.mappings.nr; i++)
		if (remembered->fds[i] >= 0)
			close(remembered->fds[i]);
	free(remembered->fds);
	process__release(&remembered->process);
}

void symbolizer__free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	for (size_t i = 0; i < symbolizer->nr_remembered; i++)
		remembered__release(&symbolizer->remembered[i]);
	free(symbolizer->remembered);
	arena__release(&symbolizer->names);
	free(symbolizer);
}

void symbolizer__freep(struct symbolizer **symbolizer)
{
	symbolizer__free(*symbolizer);
}

/* ---- the kernel ---- */

/* Where a query is looked up. */
static uint64_t lookup_address(const struct sym_query *query)
{
	return query->address - (query->return_address && query->address);
}

static int take_printed(struct symbolizer *symbolizer, struct sym_query *query, const char *text)
{
	struct kernel_symbol symbol;

	if (!kernel_symbol__parse(text, &symbol))
		return 0;
	query->offset = symbol.offset + (query->address - lookup_address(query));
	query->name = arena__copy_string(&symbolizer->names, symbol.name, symbol.name_length);
	if (!query->name)
		return -ENOMEM;
	if (!symbol.module)
		return 0;
	query->module = arena__copy_string(&symbolizer->names, symbol.module, symbol.module_length);
	return query->module ? 0 : -ENOMEM;
}

static int name_by_print(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	for (size_t done = 0, batch; done < nr; done += batch) {
		uint64_t addresses[SYM_KERNEL_BATCH];
		const char *texts[SYM_KERNEL_BATCH];
		int err;

		batch = nr - done < SYM_KERNEL_BATCH ? nr - done : SYM_KERNEL_BATCH;
		for (size_t i = 0; i < batch; i++)
			addresses[i] = lookup_address(&queries[done + i]);
		err = symbolizer->print(symbolizer->print_context, addresses, batch, texts);
		for (size_t i = 0; i < batch && !err; i++)
			err = take_printed(symbolizer, &queries[done + i], texts[i]);
		if (err)
			return err;
	}
	return 0;
}

struct kernel_question {
	struct kallsyms_lookup lookup; /* first: sorted as such */
	struct sym_query *query;
};

static int compare_questions(const void *a, const void *b)
{
	const struct kernel_question *left = a, *right = b;

	return COMPARE(left->lookup.address, right->lookup.address);
}

static int name_by_kallsyms(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	CLEANUP_FREE struct kernel_question *questions = calloc(nr + 1, sizeof(*questions));
	CLEANUP_FREE struct kallsyms_lookup *lookups = calloc(nr + 1, sizeof(*lookups));
	CLEANUP_FCLOSE FILE *file = fopen("/proc/kallsyms", "re");
	int err;

	if (!questions || !lookups)
		return -ENOMEM;
	if (!file)
		return -errno;
	for (size_t i = 0; i < nr; i++)
		questions[i] = (struct kernel_question){
			.lookup.address = lookup_address(&queries[i]), .query = &queries[i]};
	array__sort(questions, nr, sizeof(*questions), compare_questions);
	for (size_t i = 0; i < nr; i++)
		lookups[i] = questions[i].lookup;
	err = kallsyms__find(file, lookups, nr, &symbolizer->names);
	for (size_t i = 0; i < nr && !err; i++) {
		struct sym_query *query = questions[i].query;

		query->name = lookups[i].name;
		query->module = lookups[i].module;
		if (query->name)
			query->offset = query->address - lookups[i].start;
	}
	return err;
}

int symbolizer__name_kernel(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	if (symbolizer->print) {
		if (name_by_print(symbolizer, queries, nr) == 0)
			return 0;
		for (size_t i = 0; i < nr; i++)
			queries[i].name = queries[i].module = NULL;
	}
	return name_by_kallsyms(symbolizer, queries, nr);
}

/* ---- processes ---- */

/* One address in one file, for the query that wants it. */
struct file_question {
	size_t file; /* index into the batch's files */
	uint64_t address;
	struct sym_query *query;
};

/* What one call of symbolizer__name_user() collects before it asks the files. */
struct batch {
	struct sym_file *files;
	size_t nr_files, files_capacity;
	struct file_question *questions;
	size_t nr_questions, questions_capacity;
	uint64_t work; /* left: see elf_symbols__find() */
};

static void batch__close_files(struct batch *batch)
{
	for (size_t i = 0; i < batch->nr_files; i++) {
		elf_symbols__close(&batch->files[i].elf);
		close(batch->files[i].fd);
	}
	batch->nr_files = 0;
}

static void batch__release(struct batch *batch)
{
	batch__close_files(batch);
	free(batch->files);
	free(batch->questions);
}

static bool same_identity(const struct file_identity *a, const struct file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/*
 * Take over fd: *file becomes its index in the batch, where an equal file that
 * is there already serves for it. Returns 0 or a negative errno.
 */
static int batch__add_file(struct batch *batch, int owned_fd, size_t *file)
{
	CLEANUP_CLOSE int fd = owned_fd;
	struct sym_file added;
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	added.identity = (struct file_identity){
		.device = st.st_dev, .inode = st.st_ino, .size = st.st_size, .changed = st.st_ctim};
	for (size_t i = 0; i < batch->nr_files; i++) {
		if (same_identity(&batch->files[i].identity, &added.identity)) {
			*file = i;
			return 0;
		}
	}
	if (ARRAY_GROW(batch->files, batch->nr_files, batch->files_capacity))
		return -ENOMEM;
	err = elf_symbols__open(&added.elf, fd);
	if (err)
		return err;
	added.fd = TAKE_FD(fd);
	batch->files[batch->nr_files] = added;
	*file = batch->nr_files++;
	return 0;
}

static int compare_pids(const void *a, const void *b)
{
	const struct sym_query *const *left = a, *const *right = b;
	int order = COMPARE((*left)->pid, (*right)->pid);

	return order ? order : COMPARE(lookup_address(*left), lookup_address(*right));
}

static int compare_file_questions(const void *a, const void *b)
{
	const struct file_question *left = a, *right = b;
	int order = COMPARE(left->file, right->file);

	return order ? order : COMPARE(left->address, right->address);
}

/* A process as it is now, or as it was remembered. */
struct process_view {
	struct process current; /* if it could be read */
	const struct process *process;
	const int *fds; /* of a remembered process; or NULL */
};

static const struct remembered *find_remembered(const struct symbolizer *symbolizer, pid_t pid)
{
	for (size_t i = 0; i < symbolizer->nr_remembered; i++)
		if (symbolizer->remembered[i].process.pid == pid)
			return &symbolizer->remembered[i];
	return NULL;
}

/*
 * The present mappings are the better ones, since libraries may have been loaded
 * after the process was remembered; unless its PID has become another process.
 */
static int view_process(const struct symbolizer *symbolizer, pid_t pid, struct process_view *view)
{
	const struct remembered *remembered = find_remembered(symbolizer, pid);
	int err = process__read(&view->current, pid);

	if (!err && (!remembered || remembered->process.start_time == view->current.start_time)) {
		view->process = &view->current;
		view->fds = NULL;
		return 0;
	}
	if (!remembered)
		return err;
	view->process = &remembered->process;
	view->fds = remembered->fds;
	return 0;
}

static int open_mapped_file(const struct process_view *view, const struct mapping *mapping)
{
	int fd;

	if (!view->fds)
		return process__open_file(view->process, mapping);
	fd = view->fds[mapping - view->process->mappings.mappings];
	return fd < 0 ? -ENOENT : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* Of the path in a mapping: what sym_query calls its module. Returns 0 or -ENOMEM. */
static int module_name(struct arena *names, const char *path, const char **module)
{
	const char *slash = strrchr(path, '/');
	const char *deleted = " (deleted)";
	size_t length;

	path = slash ? slash + 1 : path;
	length = strlen(path);
	if (length > strlen(deleted) && !strcmp(path + length - strlen(deleted), deleted))
		length -= strlen(deleted);
	*module = length ? arena__copy_string(names, path, length) : NULL;
	return length && !*module ? -ENOMEM : 0;
}

/* All questions about one file, sorted by address. */
static int answer_file(struct symbolizer *symbolizer, const struct sym_file *file,
		       struct file_question *questions, size_t nr, uint64_t *work)
{
	CLEANUP_FREE struct elf_lookup *lookups = calloc(nr, sizeof(*lookups));
	int err;

	if (!lookups)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		lookups[i].address = questions[i].address;
	err = elf_symbols__find(&file->elf, lookups, nr, &symbolizer->names, work);
	for (size_t i = 0; i < nr && !err; i++) {
		struct sym_query *query = questions[i].query;

		query->name = lookups[i].name;
		if (query->name)
			query->offset = query->module_offset - lookups[i].start;
	}
	return err;
}

/* Answer what has been asked so far, and close the files. */
static int batch__answer(struct symbolizer *symbolizer, struct batch *batch)
{
	int err = 0;

	array__sort(batch->questions, batch->nr_questions, sizeof(*batch->questions),
		    compare_file_questions);
	for (size_t first = 0, end; first < batch->nr_questions && !err; first = end) {
		size_t file = batch->questions[first].file;

		for (end = first + 1; end < batch->nr_questions; end++)
			if (batch->questions[end].file != file)
				break;
		err = answer_file(symbolizer, &batch->files[file], &batch->questions[first],
				  end - first, &batch->work);
	}
	batch->nr_questions = 0;
	batch__close_files(batch);
	return err;
}

/* The queries that lie in one mapping. A file that cannot be read leaves them without names. */
static int ask_mapping(struct symbolizer *symbolizer, struct batch *batch,
		       const struct process_view *view, const struct mapping *mapping,
		       struct sym_query **queries, size_t nr)
{
	const char *module;
	size_t file = 0;
	int err = module_name(&symbolizer->names, mapping->path, &module);
	int fd;

	if (!err && batch->nr_files >= symbolizer->files_max)
		err = batch__answer(symbolizer, batch);
	if (err)
		return err;
	fd = mapping->inode ? open_mapped_file(view, mapping) : -ENOENT;
	err = fd < 0 ? fd : batch__add_file(batch, fd, &file);
	for (size_t i = 0; i < nr; i++) {
		uint64_t lookup = lookup_address(queries[i]) - mapping->start + mapping->offset;
		uint64_t address;

		queries[i]->module = module;
		if (err || !elf_symbols__address(&batch->files[file].elf, lookup, &address))
			continue;
		queries[i]->module_offset =
			address + (queries[i]->address - lookup_address(queries[i]));
		if (ARRAY_GROW(batch->questions, batch->nr_questions, batch->questions_capacity))
			return -ENOMEM;
		batch->questions[batch->nr_questions++] = (struct file_question){
			.file = file, .address = address, .query = queries[i]};
	}
	return err == -ENOMEM ? err : 0;
}

/* The queries of one process, sorted by address. */
static int ask_process(struct symbolizer *symbolizer, struct batch *batch,
		       struct sym_query **queries, size_t nr)
{
	struct process_view view = {0};
	int err = view_process(symbolizer, queries[0]->pid, &view);

	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t first = 0, end; first < nr && !err; first = end) {
		const struct mapping *mapping =
			mapping_list__find(&view.process->mappings, lookup_address(queries[first]));

		for (end = first + 1; mapping && end < nr; end++)
			if (lookup_address(queries[end]) >= mapping->end)
				break;
		if (mapping)
			err = ask_mapping(symbolizer, batch, &view, mapping, queries + first,
					  end - first);
	}
	process__release(&view.current);
	return err;
}

int symbolizer__name_user(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	CLEANUP_FREE struct sym_query **sorted = calloc(nr + 1, sizeof(*sorted));
	CLEANUP(batch__release) struct batch batch = {.work = ELF_SYMBOLS_WORK};
	int err = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		sorted[i] = &queries[i];
	array__sort(sorted, nr, sizeof(*sorted), compare_pids);
	for (size_t first = 0, end; first < nr && !err; first = end) {
		for (end = first + 1; end < nr; end++)
			if (sorted[end]->pid != sorted[first]->pid)
				break;
		err = ask_process(symbolizer, &batch, sorted + first, end - first);
	}
	return err ? err : batch__answer(symbolizer, &batch);
}

static void open_all(struct symbolizer *symbolizer, struct remembered *remembered)
{
	const struct mapping_list *list = &remembered->process.mappings;

	for (size_t i = 0; i < list->nr; i++) {
		const struct mapping *mapping = &list->mappings[i];
		bool wanted =
			mapping->inode && symbolizer->remembered_files < symbolizer->files_max;
		int fd = wanted ? process__open_file(&remembered->process, mapping) : -1;

		remembered->fds[i] = fd < 0 ? -1 : fd;
		symbolizer->remembered_files += fd >= 0;
	}
}

int symbolizer__remember(struct symbolizer *symbolizer, pid_t pid)
{
	struct remembered remembered = {0};
	int err = process__read(&remembered.process, pid);

	if (err)
		return err;
	remembered.fds = calloc(remembered.process.mappings.nr, sizeof(*remembered.fds));
	if (!remembered.fds || ARRAY_GROW(symbolizer->remembered, symbolizer->nr_remembered,
					  symbolizer->remembered_capacity)) {
		free(remembered.fds);
		process__release(&remembered.process);
		return -ENOMEM;
	}
	open_all(symbolizer, &remembered);
	symbolizer->remembered[symbolizer->nr_remembered++] = remembered;
	return 0;
}
