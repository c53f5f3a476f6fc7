// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/file_finder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/unwind_tables.h"
#include "core/kernel/kernel_time.h"
#include "sym/cfi/table_reader.h"
#include "sym/util/cleanup.h"

void file_finder__tell(struct file_finder *finder, uint32_t number,
		       const struct unwind_mapped *mapped, pid_t pid)
{
	struct unwind_module_file *told = &finder->queue.told->modules.items[number];

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

void file_finder__put(struct file_finder *finder, const struct unwind_known_file *file)
{
	if (unwind_tables__put_file(&finder->queue.tables, &file->mapped.file, file->module))
		table_queue__status(&finder->queue)->no_modules++;
}

/* Number a file that was found in a process, or has been in it. What is no program needs none. */
static void number_file(struct file_finder *finder, uint32_t index, pid_t pid)
{
	struct unwind_known_file *file = &finder->queue.files.items[index];
	bool is_program = file->mapped.source != UNWIND_SOURCE_OTHER;

	if (file->module == UNWIND_UNKNOWN_MODULE && is_program) {
		int number = unwind_tables__number_file(&finder->queue.tables, &file->mapped.file);

		if (number < 0) {
			file->retry = UINT64_MAX;
			table_queue__status(&finder->queue)->no_modules++;
			return;
		}
		unwind_files__set_module(&finder->queue.files, index, (uint32_t)number);
	}
	if (file->module < UNWIND_MODULES)
		file_finder__tell(finder, file->module, &file->mapped, pid);
	if (file->module < UNWIND_MODULES && !finder->loads_tables)
		unwind_tables__set_module(&finder->queue.tables, file->module, UNWIND_MODULE_EMPTY);
	if (!is_program) {
		/* Stacks that are walked later have its number. */
		if (file->module < UNWIND_MODULES)
			unwind_tables__set_module(&finder->queue.tables, file->module,
						  UNWIND_MODULE_EMPTY);
		unwind_files__set_module(&finder->queue.files, index, UNWIND_NO_MODULE);
	}
	file_finder__put(finder, file);
}

/* How long no walk has come to the file, nor has it been found. */
static uint32_t idle_for(const struct file_finder *finder, const struct unwind_known_file *file,
			 uint32_t now)
{
	uint32_t last = file->heard;

	if (file->module < UNWIND_MODULES) {
		uint32_t used = unwind_tables__used(&finder->queue.tables, file->module);

		last = unwind_age__since(last, used) ? used : last;
	}
	return unwind_age__since(last, now);
}

/* Walks ask for it if they want it. */
static void forget_file(struct file_finder *finder, const struct unwind_known_file *file)
{
	unwind_tables__remove_file(&finder->queue.tables, &file->mapped.file);
	unwind_files__remove(&finder->queue.files, (uint32_t)(file - finder->queue.files.items));
}

/* Forget the file that nobody has used for the longest time. */
static bool forget_oldest(struct file_finder *finder)
{
	struct unwind_known_file *items = finder->queue.files.items, *oldest = NULL;
	uint32_t now = unwind_age(kernel_time__now()), most = 0;

	for (size_t i = 0; i < finder->queue.files.nr; i++) {
		uint32_t idle = idle_for(finder, &items[i], now);

		if (items[i].wanted_by || items[i].is_read || idle <= most)
			continue;
		most = idle;
		oldest = &items[i];
	}
	if (!oldest)
		return false;
	forget_file(finder, oldest);
	return true;
}

int file_finder__add(struct file_finder *finder, const struct mapped_file *file, uint32_t *index)
{
	int err = unwind_files__add(&finder->queue.files, file, index);

	if (err == -ENOSPC && forget_oldest(finder))
		err = unwind_files__add(&finder->queue.files, file, index);
	return err;
}

/* As what is no program, at whatever time it was looked at; NULL if it is not known so. */
static const struct unwind_known_file *find_no_program(const struct file_finder *finder,
						       const struct mapped_file *file)
{
	struct mapped_file at_any_time;

	mapped_file__set_at_any_time(&at_any_time, file);
	return unwind_files__find(&finder->queue.files, &at_any_time);
}

static void note_no_program(struct file_finder *finder, const struct unwind_mapped *mapped)
{
	struct unwind_known_file *file;
	struct mapped_file at_any_time;
	uint32_t index;

	mapped_file__set_at_any_time(&at_any_time, &mapped->file);
	if (file_finder__add(finder, &at_any_time, &index))
		return;
	file = &finder->queue.files.items[index];
	file->mapped = *mapped;
	file->mapped.file = at_any_time;
	file->heard = unwind_age(kernel_time__now());
	unwind_files__set_module(&finder->queue.files, index, UNWIND_NO_MODULE);
	file_finder__put(finder, file);
}

static void note_whether_program(struct file_finder *finder, const struct unwind_mapped *mapped)
{
	const struct unwind_known_file *before = find_no_program(finder, &mapped->file);

	if (mapped->source == UNWIND_SOURCE_OTHER)
		note_no_program(finder, mapped);
	else if (before)
		forget_file(finder, before);
}

/* A process has the file mapped, or had it. */
static void take_found(struct file_finder *finder, pid_t pid, const struct unwind_mapped *mapped)
{
	struct unwind_known_file *file;
	uint32_t index;

	if (mapped->source == UNWIND_SOURCE_NONE)
		return;
	note_whether_program(finder, mapped);
	if (file_finder__add(finder, &mapped->file, &index))
		return;
	file = &finder->queue.files.items[index];
	if (!unwind_known_file__is_found(file)) {
		table_queue__forgive(&finder->queue, file);
		file->mapped = *mapped;
		number_file(finder, index, pid);
		/* A walk that came to it has wanted tables, for which there is no place. */
		if (file->module >= UNWIND_MODULES)
			file->wanted_by = 0;
	}
	table_queue__want(&finder->queue, file, pid, mapped->start);
}

bool file_finder__has(const void *context, const struct mapped_file *file)
{
	const struct file_finder *finder = context;
	const struct unwind_known_file *known = unwind_files__find(&finder->queue.files, file);

	return known && unwind_known_file__is_found(known);
}

void file_finder__read_process(struct file_finder *finder, pid_t pid)
{
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;
	int nr = unwind_reader__mappings(pid, &finder->queue.avoided, &finder->identifier,
					 &finder->keeper, &mapped);

	table_queue__note_if_starved(&finder->queue, nr);
	for (int i = 0; i < nr; i++)
		take_found(finder, pid, &mapped[i]);
}

static void note_missed(struct file_finder *finder, struct unwind_known_file *file)
{
	table_queue__note_failure(&finder->queue, file);
	if (file->module >= UNWIND_MODULES)
		return;
	__atomic_store_n(&finder->queue.told->modules.items[file->module].missed, true,
			 __ATOMIC_RELEASE);
	if (finder->loads_tables)
		unwind_tables__set_module(&finder->queue.tables, file->module,
					  UNWIND_MODULE_DELAYED);
}

/* Files that one child looks for. */
#define LOOKS_MAX 16

static int compare_pids(const void *one, const void *other)
{
	const struct unwind_look *a = one, *b = other;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* The most wanted files that are not found, by process; nobody forgets them meanwhile. */
static size_t choose_looks(struct table_queue *queue, struct unwind_look looks[LOOKS_MAX])
{
	uint32_t index;
	size_t nr = 0;

	while (nr < LOOKS_MAX &&
	       (index = table_queue__most_wanted(queue, false)) != UNWIND_FILE_NONE) {
		struct unwind_known_file *file = &queue->files.items[index];

		looks[nr] = (struct unwind_look){.number = index,
						 .pid = table_queue__take_turn(queue, file),
						 .start = file->wanted_start,
						 .file = file->mapped.file};
		memcpy(looks[nr].place, file->mapped.path, sizeof(looks[nr].place));
		nr++;
	}
	qsort(looks, nr, sizeof(looks[0]), compare_pids);
	return nr;
}

/* Its entry is the loader's to forget again. */
static void take_look(struct file_finder *finder, const struct unwind_look *look)
{
	const struct unwind_known_file *file, *no_program;
	struct unwind_mapped mapped;

	finder->queue.files.items[look->number].is_read = false;
	take_found(finder, look->pid, &look->mapped);
	file = unwind_files__find(&finder->queue.files, &look->file);
	if (!file || unwind_known_file__is_found(file))
		return;
	/* It may have been written to since the walk. */
	no_program = find_no_program(finder, &look->file);
	if (no_program) {
		mapped = no_program->mapped;
		mapped.file = look->file;
		take_found(finder, look->pid, &mapped);
	} else {
		note_missed(finder, &finder->queue.files.items[file - finder->queue.files.items]);
	}
}

/* They are wanted as before. */
static void put_back(struct file_finder *finder, const struct unwind_look *look)
{
	finder->queue.files.items[look->number].is_read = false;
	finder->queue.files.items[look->number].wanted_by = look->pid;
}

bool file_finder__look(struct file_finder *finder)
{
	struct unwind_look looks[LOOKS_MAX];
	size_t nr = choose_looks(&finder->queue, looks), done = nr;
	int result;

	if (!nr)
		return false;
	result = unwind_reader__look(looks, nr, &finder->queue.avoided, &finder->identifier,
				     &finder->keeper);
	table_queue__note_if_starved(&finder->queue, result);
	if (result >= 0)
		done = (size_t)result;
	for (size_t i = 0; i < done; i++)
		take_look(finder, &looks[i]);
	for (size_t i = done; i < nr; i++)
		put_back(finder, &looks[i]);
	return true;
}

/* ---- what a command needs ---- */

/* Files that are asked for before a command runs; others are loaded when walks come to them. */
#define NEEDED_MAX 512

/* No process has them yet: they are read by their paths. */
static void take_needed(struct file_finder *finder, const struct unwind_mapped *mapped, int nr)
{
	/* A file system does not answer, or there is no memory. */
	if (nr < 0)
		table_queue__status(&finder->queue)->nr_late++;
	for (int i = 0; i < nr; i++)
		take_found(finder, getpid(), &mapped[i]);
}

/* True for a file that nobody has asked for, and for the folders of those that come behind. */
static bool is_new_need(struct file_finder *finder, const char *text)
{
	size_t nr = finder->needed.nr;
	uint32_t number;

	return text[0] == ELF_NEED_RUN_PATH ||
	       (nr < NEEDED_MAX && !text_set__add(&finder->needed, text, &number) && number == nr);
}

int file_finder__need(void *context, const char *texts, size_t size)
{
	struct file_finder *finder = context;
	const struct unwind_known_file *user =
		&finder->queue.files.items[finder->queue.loaded_file];
	char path[UNWIND_PATH_MAX], new[UNWIND_NEEDS_MAX];
	struct unwind_needs needs = {.texts = new, .path = path};

	for (const char *text = texts; text < texts + size; text += strlen(text) + 1) {
		size_t length = strlen(text) + 1;

		if (!is_new_need(finder, text))
			continue;
		memcpy(new + needs.size, text, length);
		needs.size += length;
	}
	memcpy(path, user->mapped.path, sizeof(path));
	if (needs.size) {
		CLEANUP_FREE struct unwind_mapped *mapped = NULL;
		int nr = unwind_reader__needed(&needs, &finder->queue.avoided, &finder->identifier,
					       &finder->keeper, &mapped);

		take_needed(finder, mapped, nr);
	}
	return 0;
}

void file_finder__need_program(struct file_finder *finder, const char *path)
{
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;
	int nr = unwind_reader__program(path, &finder->queue.avoided, &finder->identifier,
					&finder->keeper, &mapped);

	take_needed(finder, mapped, nr);
}
