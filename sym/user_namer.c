// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From questions to answers:
 *
 *   process  ->  mapping  ->  file (by device and inode)  ->  address in the file
 *
 * and then file by file: all addresses that are wanted in a file, by whatever
 * process, are found in one pass over its symbols. What lies in no file that is a
 * program may be code that the process has generated: its JIT map is asked.
 */
#include "sym/user_namer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/array.h"
#include "core/util/cleanup.h"
#include "sym/demangle.h"
#include "sym/elf_plt.h"
#include "sym/elf_symbols.h"
#include "sym/jit_map.h"
#include "sym/process.h"
#include "sym/sym.h"
#include "sym/vdso.h"
#include "sym/work.h"

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
	int fd;	      /* owned */
	dev_t device; /* as its mappings show it */
};

/* A process whose mappings were read before it could end; its files are open. */
struct remembered {
	struct process process;
	int *fds;   /* by mapping; -1: could not be opened */
	int jit_fd; /* or -1 */
};

struct user_namer {
	const struct avoid_list *avoided;
	struct progress *progress;
	struct arena *names;
	struct remembered *remembered;
	size_t nr_remembered, remembered_capacity;
	size_t remembered_files;
	size_t files_max;
	int vdso_fd;			/* or -1 */
	unsigned int demangle_patience; /* 0: names stay as they are */
};

int user_namer__new(struct user_namer **out, struct arena *names, const struct avoid_list *avoided,
		    struct progress *progress, bool demangles)
{
	struct user_namer *namer = calloc(1, sizeof(*namer));
	struct rlimit limit;

	if (!namer)
		return -ENOMEM;
	namer->names = names;
	namer->avoided = avoided;
	namer->progress = progress;
	namer->files_max = FILES_MAX;
	namer->vdso_fd = vdso__open();
	namer->demangle_patience = demangles ? DEMANGLE_PATIENCE : 0;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / 4 < FILES_MAX)
		namer->files_max = limit.rlim_cur / 4;
	*out = namer;
	return 0;
}

/* Say what is touched next, so that whoever watches knows what does not answer. */
static void touch(struct user_namer *namer, pid_t pid, dev_t device, bool jit)
{
	volatile struct progress *progress = namer->progress;

	progress->pid = pid;
	progress->device = device;
	progress->jit = jit;
	progress->steps++;
}

/* What is too large to be read to its end is no failure, but is said. */
static int note_left_out(struct user_namer *namer, int err)
{
	if (err != -EFBIG)
		return err;
	namer->progress->left_out = true;
	return 0;
}

static bool is_avoided(const struct user_namer *namer, pid_t pid, dev_t device)
{
	for (size_t i = 0; i < namer->avoided->nr; i++) {
		dev_t avoided = namer->avoided->items[i].device;

		if (namer->avoided->items[i].jit)
			continue;
		if (avoided ? avoided == device : namer->avoided->items[i].pid == pid)
			return true;
	}
	return false;
}

static bool is_jit_map_avoided(const struct user_namer *namer, pid_t pid)
{
	size_t maps = 0;

	for (size_t i = 0; i < namer->avoided->nr; i++) {
		if (!namer->avoided->items[i].jit)
			continue;
		if (namer->avoided->items[i].pid == pid || ++maps == AVOIDED_JIT_MAX)
			return true;
	}
	return is_avoided(namer, pid, 0);
}

/* process__open_file(), of what is known to answer. */
static int open_file(struct user_namer *namer, const struct process *process,
		     const struct mapping *mapping)
{
	if (!mapping->inode)
		return -ENOENT;
	if (is_avoided(namer, process->pid, mapping->device))
		return -ECANCELED;
	touch(namer, process->pid, mapping->device, false);
	return process__open_file(process, mapping);
}

static int read_process(struct user_namer *namer, struct process *process, pid_t pid)
{
	if (is_avoided(namer, pid, 0))
		return -ECANCELED;
	touch(namer, pid, 0, false);
	return process__read(process, pid);
}

/* One address in one file, for the query that wants it. */
struct file_question {
	size_t file; /* index into the batch's files */
	uint64_t address;
	struct sym_query *query;
};

/* A query in memory without a program, for the JIT map of its process. */
struct jit_question {
	struct sym_query *query;
	pid_t task;			     /* as in struct process */
	const struct remembered *remembered; /* NULL: the process is read as it is now */
};

/* What one call of user_namer__name() collects before it asks the files. */
struct batch {
	struct sym_file *files;
	size_t nr_files, files_capacity;
	struct file_question *questions;
	size_t nr_questions, questions_capacity;
	struct jit_question *jit_questions; /* process by process, each sorted by address */
	size_t nr_jit_questions, jit_questions_capacity;
	user_namer_emit emit;
	void *emit_context;
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
	free(batch->jit_questions);
}

static bool same_identity(const struct file_identity *a, const struct file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/*
 * Take over fd, of a file on device: *file becomes its index in the batch, where
 * an equal file that is there already serves for it. Returns 0 or a negative
 * errno.
 */
static int batch__add_file(struct batch *batch, int owned_fd, dev_t device, size_t *file)
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
	added.device = device;
	batch->files[batch->nr_files] = added;
	*file = batch->nr_files++;
	return 0;
}

static int compare_pids(const void *a, const void *b)
{
	const struct sym_query *const *left = a, *const *right = b;
	int order = COMPARE((*left)->pid, (*right)->pid);

	return order ? order :
		       COMPARE(sym_query__lookup_address(*left), sym_query__lookup_address(*right));
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
	const struct remembered *remembered; /* NULL: process is current */
};

static const struct remembered *find_remembered(const struct user_namer *namer, pid_t pid)
{
	for (size_t i = 0; i < namer->nr_remembered; i++)
		if (namer->remembered[i].process.pid == pid)
			return &namer->remembered[i];
	return NULL;
}

/*
 * The present mappings are the better ones, since libraries may have been loaded
 * after the process was remembered; unless its PID has become another process.
 */
static int view_process(struct user_namer *namer, pid_t pid, struct process_view *view)
{
	const struct remembered *remembered = find_remembered(namer, pid);
	int err = read_process(namer, &view->current, pid);

	if (!err && (!remembered || remembered->process.start_time == view->current.start_time)) {
		view->process = &view->current;
		view->remembered = NULL;
		return 0;
	}
	if (!remembered)
		return err;
	view->process = &remembered->process;
	view->remembered = remembered;
	return 0;
}

/* A descriptor of the caller's own, or -ENOENT if there is none to copy. */
static int copy_fd(int fd)
{
	int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? -ENOENT : copy;
}

/*
 * The JIT map of a process, as it is now or, where it was remembered, as it was
 * opened then; of what is known to answer.
 */
static int open_jit_map(struct user_namer *namer, const struct process *process,
			const struct remembered *remembered)
{
	struct stat st;
	int fd;

	if (is_jit_map_avoided(namer, process->pid))
		return -ECANCELED;
	touch(namer, process->pid, 0, true);
	fd = remembered ? copy_fd(remembered->jit_fd) : process__open_jit_map(process);
	/* On a disk it may take the time that it needs. */
	if (fd >= 0 && fstat(fd, &st) == 0)
		touch(namer, process->pid, st.st_dev, true);
	return fd;
}

static int open_mapped_file(struct user_namer *namer, const struct process_view *view,
			    const struct mapping *mapping)
{
	if (vdso__is_ours(mapping))
		return copy_fd(namer->vdso_fd);
	if (!view->remembered)
		return open_file(namer, view->process, mapping);
	return copy_fd(view->remembered->fds[mapping - view->process->mappings.mappings]);
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

/* The form of a symbol, or the symbol itself; NULL without memory. */
static const char *demangled(struct user_namer *namer, const char *symbol)
{
	const struct work work = work__share(&namer->progress->work, UINT64_MAX);
	char text[DEMANGLED_SIZE];
	size_t length;

	if (!work__is_left(&work) || !demangle(symbol, text, &namer->demangle_patience))
		return symbol;
	length = strlen(text);
	work__charge(&work, length);
	return arena__copy_string(namer->names, text, length);
}

/* The names of neighbours are often one string. */
static int demangle_names(struct user_namer *namer, struct elf_lookup *lookups, size_t nr)
{
	const char *symbol = NULL, *name = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (!lookups[i].name)
			continue;
		if (lookups[i].name != symbol) {
			symbol = lookups[i].name;
			name = demangled(namer, symbol);
			if (!name)
				return -ENOMEM;
		}
		lookups[i].name = name;
	}
	return 0;
}

/* All questions about one file, sorted by address. */
static int answer_file(struct user_namer *namer, const struct sym_file *file,
		       struct file_question *questions, size_t nr)
{
	CLEANUP_FREE struct elf_lookup *lookups = calloc(nr, sizeof(*lookups));
	int err;

	if (!lookups)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		lookups[i].address = questions[i].address;
	touch(namer, questions[0].query->pid, file->device, false);
	err = note_left_out(namer, elf_symbols__find(&file->elf, lookups, nr, namer->names,
						     &namer->progress->work));
	if (!err)
		err = note_left_out(namer, elf_plt__find(&file->elf, lookups, nr, namer->names,
							 &namer->progress->work));
	if (!err && namer->demangle_patience)
		err = demangle_names(namer, lookups, nr);
	for (size_t i = 0; i < nr && !err; i++) {
		struct sym_query *query = questions[i].query;

		query->name = lookups[i].name;
		if (query->name)
			query->offset = query->module_offset - lookups[i].start;
	}
	return err;
}

/* Answer what has been asked so far, and close the files. */
static int batch__answer(struct user_namer *namer, struct batch *batch)
{
	int err = 0;

	array__sort(batch->questions, batch->nr_questions, sizeof(*batch->questions),
		    compare_file_questions);
	for (size_t first = 0, end; first < batch->nr_questions && !err; first = end) {
		size_t file = batch->questions[first].file;

		for (end = first + 1; end < batch->nr_questions; end++)
			if (batch->questions[end].file != file)
				break;
		err = answer_file(namer, &batch->files[file], &batch->questions[first],
				  end - first);
		for (size_t i = first; i < end && !err; i++)
			batch->emit(batch->emit_context, batch->questions[i].query);
	}
	batch->nr_questions = 0;
	batch__close_files(batch);
	return err;
}

/* The question of a query that lies in a mapping of the file. */
static int ask_file(struct batch *batch, size_t file, const struct mapping *mapping,
		    struct sym_query *query)
{
	uint64_t lookup = sym_query__lookup_address(query);
	uint64_t address;

	/* Where it would lie in the file, if that is no program, or no segment holds it. */
	query->module_offset = query->address - mapping->start + mapping->offset;
	if (!elf_symbols__address(&batch->files[file].elf,
				  lookup - mapping->start + mapping->offset, &address)) {
		batch->emit(batch->emit_context, query);
		return 0;
	}
	query->module_offset = address + (query->address - lookup);
	if (ARRAY_GROW(batch->questions, batch->nr_questions, batch->questions_capacity))
		return -ENOMEM;
	batch->questions[batch->nr_questions++] =
		(struct file_question){.file = file, .address = address, .query = query};
	return 0;
}

/* A query in memory without a file, or with one that is no program: generated code, perhaps. */
static int ask_jit_map(struct batch *batch, const struct process_view *view,
		       const struct mapping *mapping, struct sym_query *query)
{
	query->module_offset = query->address - mapping->start + mapping->offset;
	if (ARRAY_GROW(batch->jit_questions, batch->nr_jit_questions,
		       batch->jit_questions_capacity))
		return -ENOMEM;
	batch->jit_questions[batch->nr_jit_questions++] = (struct jit_question){
		.query = query, .task = view->process->task, .remembered = view->remembered};
	return 0;
}

/* The queries that lie in one mapping. */
static int ask_mapping(struct user_namer *namer, struct batch *batch,
		       const struct process_view *view, const struct mapping *mapping,
		       struct sym_query **queries, size_t nr)
{
	const char *module;
	size_t file = 0;
	int err = module_name(namer->names, mapping->path, &module);
	int fd, opened;

	if (!err && batch->nr_files >= namer->files_max)
		err = batch__answer(namer, batch);
	if (err)
		return err;
	fd = open_mapped_file(namer, view, mapping);
	opened = fd < 0 ? fd : batch__add_file(batch, fd, mapping->device, &file);
	for (size_t i = 0; i < nr && !err; i++) {
		queries[i]->module = module;
		err = opened ? ask_jit_map(batch, view, mapping, queries[i]) :
			       ask_file(batch, file, mapping, queries[i]);
	}
	return opened == -ENOMEM ? opened : err;
}

/* All questions to the JIT map of one process, sorted by address. */
static int answer_by_jit_map(struct user_namer *namer, struct batch *batch,
			     const struct jit_question *questions, size_t nr)
{
	const struct process process = {.pid = questions[0].query->pid, .task = questions[0].task};
	CLEANUP_FREE struct jit_lookup *lookups = calloc(nr, sizeof(*lookups));
	CLEANUP_CLOSE int fd = open_jit_map(namer, &process, questions[0].remembered);
	int err = 0;

	if (!lookups)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		lookups[i].address = sym_query__lookup_address(questions[i].query);
	if (fd >= 0)
		err = note_left_out(namer, jit_map__find(fd, lookups, nr, namer->names,
							 &namer->progress->work));
	for (size_t i = 0; i < nr && !err; i++) {
		struct sym_query *query = questions[i].query;

		query->name = lookups[i].name;
		query->offset = query->name ? query->address - lookups[i].start : 0;
		if (query->name || query->module)
			batch->emit(batch->emit_context, query);
	}
	return err;
}

/* When all programs have been asked: what does not answer costs no other names then. */
static int batch__answer_by_jit_maps(struct user_namer *namer, struct batch *batch)
{
	const struct jit_question *questions = batch->jit_questions;
	int err = 0;

	for (size_t first = 0, end; first < batch->nr_jit_questions && !err; first = end) {
		for (end = first + 1; end < batch->nr_jit_questions; end++)
			if (questions[end].query->pid != questions[first].query->pid)
				break;
		err = answer_by_jit_map(namer, batch, &questions[first], end - first);
	}
	return err;
}

/* The queries of one process, sorted by address. */
static int ask_process(struct user_namer *namer, struct batch *batch, struct sym_query **queries,
		       size_t nr)
{
	struct process_view view = {0};
	int err = view_process(namer, queries[0]->pid, &view);

	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t first = 0, end; first < nr && !err; first = end) {
		const struct mapping *mapping = mapping_list__find(
			&view.process->mappings, sym_query__lookup_address(queries[first]));

		for (end = first + 1; mapping && end < nr; end++)
			if (sym_query__lookup_address(queries[end]) >= mapping->end)
				break;
		if (mapping)
			err = ask_mapping(namer, batch, &view, mapping, queries + first,
					  end - first);
	}
	process__release(&view.current);
	return err;
}

int user_namer__name(struct user_namer *namer, struct sym_query *queries, size_t nr,
		     user_namer_emit emit, void *context)
{
	CLEANUP_FREE struct sym_query **sorted = calloc(nr + 1, sizeof(*sorted));
	CLEANUP(batch__release) struct batch batch = {.emit = emit, .emit_context = context};
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
		err = ask_process(namer, &batch, sorted + first, end - first);
	}
	if (!err)
		err = batch__answer(namer, &batch);
	return err ? err : batch__answer_by_jit_maps(namer, &batch);
}

static void open_all(struct user_namer *namer, struct remembered *remembered)
{
	const struct mapping_list *list = &remembered->process.mappings;

	for (size_t i = 0; i < list->nr; i++) {
		const struct mapping *mapping = &list->mappings[i];
		int fd = -1;

		if (namer->remembered_files < namer->files_max)
			fd = open_file(namer, &remembered->process, mapping);
		remembered->fds[i] = fd < 0 ? -1 : fd;
		namer->remembered_files += fd >= 0;
	}
	remembered->jit_fd = open_jit_map(namer, &remembered->process, NULL);
}

int user_namer__remember(struct user_namer *namer, pid_t pid)
{
	struct remembered remembered = {0};
	int err;

	if (find_remembered(namer, pid))
		return 0;
	err = read_process(namer, &remembered.process, pid);
	if (err)
		return err;
	remembered.fds = calloc(remembered.process.mappings.nr, sizeof(*remembered.fds));
	if (!remembered.fds ||
	    ARRAY_GROW(namer->remembered, namer->nr_remembered, namer->remembered_capacity)) {
		free(remembered.fds);
		process__release(&remembered.process);
		return -ENOMEM;
	}
	open_all(namer, &remembered);
	namer->remembered[namer->nr_remembered++] = remembered;
	return 0;
}
