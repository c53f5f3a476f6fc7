// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/remembered.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/process/file_identity.h"
#include "sym/process/passed_file.h"
#include "sym/process/supervised.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/descriptors.h"

struct held_file {
	struct file_identity identity;
	int fd;
	dev_t device; /* as its mappings show both */
	ino_t inode;
	unsigned int users;
	uint64_t passed; /* it has a user more, since it was passed: the larger, the later; or 0 */
};

/* ---- files ---- */

/* To close a file can mean to wait for its file system, too. */
static void let_go(struct remembered_list *list, pid_t pid, struct held_file *file)
{
	if (!file || --file->users)
		return;
	supervisor__touch(list->supervisor, pid, file->device, false);
	close(file->fd);
	for (size_t i = 0; i < list->nr_files; i++) {
		if (list->files[i] == file) {
			list->files[i] = list->files[--list->nr_files];
			break;
		}
	}
	free(file);
}

static struct held_file *find_held(const struct remembered_list *list,
				   const struct file_identity *identity)
{
	for (size_t i = 0; i < list->nr_files; i++)
		if (file_identity__equal(&list->files[i]->identity, identity))
			return list->files[i];
	return NULL;
}

/*
 * What mappings show, and as long as a file is open its inode, is no other file's; but on btrfs two
 * files can be shown alike, by another device than stat() has. Then the time has to tell them
 * apart.
 */
static bool is_shown_by(const struct held_file *file, const struct mapping *mapping)
{
	if (file->device != mapping->device || file->inode != mapping->inode)
		return false;
	return mapping->modified ? file_time(&file->identity.modified) == mapping->modified :
				   file->device == file->identity.device;
}

/*
 * The file of a mapping, if it is held and nobody has written to it: nothing of the process needs
 * to be opened then, so that it may end meanwhile. To delete it changes no content.
 */
static struct held_file *find_mapped(const struct remembered_list *list, pid_t pid,
				     const struct mapping *mapping)
{
	struct file_identity now = {0};

	for (size_t i = 0; i < list->nr_files; i++) {
		struct held_file *file = list->files[i];

		if (!is_shown_by(file, mapping))
			continue;
		supervisor__touch(list->supervisor, pid, mapping->device, false);
		if (!file_identity__read(&now, file->fd) &&
		    file_identity__same_content(&now, &file->identity))
			return file;
	}
	return NULL;
}

static struct held_file *hold_new(struct remembered_list *list, int owned_fd,
				  const struct file_identity *identity, dev_t device, ino_t inode)
{
	CLEANUP_CLOSE int fd = owned_fd;
	struct held_file *file;

	if (ARRAY_GROW(list->files, list->nr_files, list->files_capacity))
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->identity = *identity;
	file->fd = TAKE_FD(fd);
	file->device = device;
	file->inode = inode;
	list->files[list->nr_files++] = file;
	return file;
}

static bool drop_one(struct remembered_list *list);

static void drop_map(struct remembered_list *list, size_t index)
{
	supervisor__touch(list->supervisor, list->maps[index].pid, 0, true);
	close(list->maps[index].fd);
	list->nr_maps--;
	list->nr_jit_maps--;
	memmove(&list->maps[index], &list->maps[index + 1],
		(list->nr_maps - index) * sizeof(*list->maps));
}

static size_t find_map(const struct remembered_list *list, pid_t pid, uint64_t program)
{
	size_t i = 0;

	while (i < list->nr_maps && (list->maps[i].pid != pid || list->maps[i].program != program))
		i++;
	return i;
}

/* The file that was passed first, of those that no process has, or map; false: there is none. */
static bool drop_passed(struct remembered_list *list)
{
	struct held_file *first = NULL;

	for (size_t i = 0; i < list->nr_files; i++) {
		struct held_file *file = list->files[i];

		if (file->passed && file->users == 1 && (!first || file->passed < first->passed))
			first = file;
	}
	if (first)
		let_go(list, 0, first);
	else if (list->nr_maps)
		drop_map(list, 0);
	else
		return false;
	return true;
}

/*
 * Room for one more descriptor; at the cost of processes that are not to be kept, and of files that
 * were passed.
 */
static bool make_room(struct remembered_list *list)
{
	while (list->nr_files + list->nr_jit_maps >= list->files_max)
		if (!drop_one(list) && !drop_passed(list)) {
			list->full = true;
			return false;
		}
	return true;
}

/* device, inode: as its mappings show them. */
static struct held_file *hold_opened(struct remembered_list *list, int owned_fd, dev_t device,
				     ino_t inode)
{
	CLEANUP_CLOSE int fd = owned_fd;
	struct file_identity identity = {0};
	struct held_file *file;

	if (file_identity__read(&identity, fd))
		return NULL;
	file = find_held(list, &identity);
	if (file || !make_room(list))
		return file;
	return hold_new(list, TAKE_FD(fd), &identity, device, inode);
}

/* It takes the place of the one that its program had before. */
static void hold_map(struct remembered_list *list, const struct passed_file *passed, int owned_fd)
{
	CLEANUP_CLOSE int fd = owned_fd;
	size_t before = find_map(list, passed->pid, passed->program);

	if (before < list->nr_maps)
		drop_map(list, before);
	if (list->nr_maps == PASSED_MAPS_MAX)
		drop_map(list, 0);
	if (!make_room(list))
		return;
	list->maps[list->nr_maps++] = (struct held_map){
		.pid = passed->pid, .program = passed->program, .fd = TAKE_FD(fd)};
	list->nr_jit_maps++;
}

int remembered_list__copy_map(const struct remembered_list *list, pid_t pid, uint64_t program)
{
	size_t i = find_map(list, pid, program);

	return program && i < list->nr_maps ? descriptor__copy(list->maps[i].fd) : -ENOENT;
}

void remembered_list__pass(struct remembered_list *list, const struct passed_file *passed, int fd)
{
	struct held_file *file;

	if (passed->program) {
		hold_map(list, passed, fd);
		return;
	}
	supervisor__touch(list->supervisor, passed->pid, passed->device, false);
	file = hold_opened(list, fd, passed->device, passed->inode);
	if (!file || file->passed)
		return;
	file->passed = ++list->uses;
	file->users++;
}

/* What base holds for the same file in the same place. */
static struct held_file *find_in(const struct remembered *base, const struct mapping *mapping)
{
	const struct mapping_list *mappings = &base->process.mappings;
	const struct mapping *of_base = mapping_list__find(mappings, mapping->start);

	if (!of_base || of_base->device != mapping->device || of_base->inode != mapping->inode)
		return NULL;
	return base->files[of_base - mappings->mappings];
}

/* The file of a mapping, with one user more; or NULL. base: as of remembered_list__add(). */
static struct held_file *hold(struct remembered_list *list, const struct remembered *base,
			      const struct process *process, const struct mapping *mapping)
{
	struct held_file *file;
	int fd;

	if (!mapping->inode || supervisor__avoids(list->supervisor, process->pid, mapping->device))
		return NULL;
	file = base ? find_in(base, mapping) : NULL;
	if (!file)
		file = find_mapped(list, process->pid, mapping);
	if (!file && !list->full) {
		fd = supervisor__open_file(list->supervisor, process, mapping);
		file = fd < 0 ? NULL : hold_opened(list, fd, mapping->device, mapping->inode);
	}
	if (file)
		file->users++;
	return file;
}

int remembered_list__copy_file(const struct remembered_list *list,
			       const struct remembered *remembered, const struct mapping *mapping)
{
	const struct process *process = &remembered->process;
	const struct held_file *file = remembered->files[mapping - process->mappings.mappings];
	struct file_identity now = {0};
	int err;

	if (!file)
		return -ENOENT;
	if (supervisor__avoids(list->supervisor, process->pid, mapping->device))
		return -ECANCELED;
	supervisor__touch(list->supervisor, process->pid, mapping->device, false);
	err = file_identity__read(&now, file->fd);
	if (err)
		return err;
	/* What the process ran is gone then: other names would be wrong. */
	return file_identity__same_content(&now, &file->identity) ? descriptor__copy(file->fd) :
								    -ESTALE;
}

/* ---- processes ---- */

static size_t count_bytes(const struct mapping_list *mappings)
{
	size_t bytes = 0;

	for (size_t i = 0; i < mappings->nr; i++) {
		const char *path = mappings->mappings[i].path;

		bytes += sizeof(mappings->mappings[i]) + sizeof(struct held_file *);
		if (i == 0 || path != mappings->mappings[i - 1].path)
			bytes += strlen(path) + 1;
	}
	return bytes;
}

/* Open the files of a process; those that it had opened before are the caller's. */
static int hold_files(struct remembered_list *list, const struct remembered *base,
		      struct remembered *remembered)
{
	const struct mapping_list *mappings = &remembered->process.mappings;
	struct held_file **files = calloc(mappings->nr + 1, sizeof(struct held_file *));

	if (!files)
		return -ENOMEM;
	list->full = false;
	for (size_t i = 0; i < mappings->nr; i++)
		files[i] = hold(list, base, &remembered->process, &mappings->mappings[i]);
	remembered->files = files;
	remembered->bytes = count_bytes(mappings);
	return 0;
}

static void let_go_of_files(struct remembered_list *list, pid_t pid, struct held_file **files,
			    size_t nr)
{
	for (size_t i = 0; files && i < nr; i++)
		let_go(list, pid, files[i]);
	free(files);
}

static void close_jit_map(struct remembered_list *list, struct remembered *remembered)
{
	if (remembered->jit_fd < 0)
		return;
	supervisor__touch(list->supervisor, remembered->process.pid, 0, true);
	close(remembered->jit_fd);
	remembered->jit_fd = -1;
	list->nr_jit_maps--;
}

struct remembered *remembered__get(struct remembered *remembered)
{
	remembered->refs++;
	return remembered;
}

void remembered_list__put(struct remembered_list *list, struct remembered *remembered)
{
	if (!remembered || --remembered->refs)
		return;
	let_go_of_files(list, remembered->process.pid, remembered->files,
			remembered->process.mappings.nr);
	close_jit_map(list, remembered);
	process__release(&remembered->process);
	free(remembered);
}

static void drop(struct remembered_list *list, size_t index)
{
	struct remembered *remembered = list->items[index];

	list->items[index] = list->items[--list->nr];
	list->bytes -= remembered->bytes;
	remembered_list__put(list, remembered);
}

/* The least recently used one that is not to be kept; false if there is none. */
static bool drop_one(struct remembered_list *list)
{
	size_t oldest = list->nr;

	for (size_t i = 0; i < list->nr; i++) {
		if (list->items[i]->kept)
			continue;
		if (oldest == list->nr || list->items[i]->used < list->items[oldest]->used)
			oldest = i;
	}
	if (oldest == list->nr)
		return false;
	drop(list, oldest);
	return true;
}

static size_t index_of(const struct remembered_list *list, pid_t pid)
{
	size_t i = 0;

	while (i < list->nr && list->items[i]->process.pid != pid)
		i++;
	return i;
}

struct remembered *remembered_list__find(struct remembered_list *list, pid_t pid)
{
	size_t i = index_of(list, pid);

	if (i == list->nr)
		return NULL;
	list->items[i]->used = ++list->uses;
	return list->items[i];
}

void remembered_list__drop(struct remembered_list *list, pid_t pid)
{
	size_t i = index_of(list, pid);

	if (i < list->nr)
		drop(list, i);
}

static size_t count_not_kept(const struct remembered_list *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		nr += !list->items[i]->kept;
	return nr;
}

int remembered_list__add(struct remembered_list *list, struct process *process, bool kept,
			 uint64_t image, const struct remembered *base)
{
	struct remembered *added = calloc(1, sizeof(*added));

	remembered_list__drop(list, process->pid);
	if (!added || ARRAY_GROW(list->items, list->nr, list->capacity)) {
		free(added);
		process__release(process);
		return -ENOMEM;
	}
	*added = (struct remembered){
		.process = *process, .image = image, .jit_fd = -1, .kept = kept, .refs = 1};
	if (hold_files(list, base, added)) {
		remembered_list__put(list, added);
		return -ENOMEM;
	}
	if (process->task && make_room(list))
		added->jit_fd = supervisor__open_jit_map(list->supervisor, &added->process, -1);
	if (added->jit_fd >= 0)
		list->nr_jit_maps++;
	while ((!kept && count_not_kept(list) >= REMEMBERED_MAX) ||
	       list->bytes + added->bytes > REMEMBERED_BYTES_MAX)
		if (!drop_one(list))
			break;
	added->used = ++list->uses;
	list->bytes += added->bytes;
	list->items[list->nr++] = added;
	return 0;
}

static bool same_mappings(const struct mapping_list *a, const struct mapping_list *b)
{
	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++) {
		const struct mapping *left = &a->mappings[i], *right = &b->mappings[i];

		if (left->start != right->start || left->end != right->end ||
		    left->offset != right->offset || left->device != right->device ||
		    left->inode != right->inode)
			return false;
	}
	return true;
}

int remembered_list__renew(struct remembered_list *list, struct remembered *remembered,
			   struct process *current)
{
	struct remembered old = *remembered;
	int err;

	if (same_mappings(&old.process.mappings, &current->mappings)) {
		remembered->process.task = current->task;
		remembered->process.program = current->program;
		process__release(current);
		return 0;
	}
	remembered->process = *current;
	remembered->kept = true; /* its own files do not drive it out */
	err = hold_files(list, NULL, remembered);
	remembered->kept = old.kept;
	if (err) {
		process__release(current);
		remembered->process = old.process;
		return err;
	}
	list->bytes += remembered->bytes - old.bytes;
	let_go_of_files(list, old.process.pid, old.files, old.process.mappings.nr);
	process__release(&old.process);
	return 0;
}

void remembered_list__renew_jit_map(struct remembered_list *list, struct remembered *remembered,
				    int fd)
{
	close_jit_map(list, remembered);
	if (make_room(list))
		remembered->jit_fd = descriptor__copy(fd);
	if (remembered->jit_fd >= 0)
		list->nr_jit_maps++;
}
