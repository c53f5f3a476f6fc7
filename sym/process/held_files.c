// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/held_files.h"

#include <errno.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sym/process/passed_file.h"
#include "sym/process/process.h"
#include "sym/process/supervised.h"
#include "sym/util/cleanup.h"
#include "sym/util/debug_log.h"
#include "sym/util/descriptors.h"

/*
 * What mappings show is no other file's as long as a file is open; but on btrfs two files can be
 * shown alike. Then size and time have to tell them apart.
 */
static const struct held_file *find(const struct held_files *held, const struct sym_file_id *file)
{
	for (size_t i = 0; i < held->nr; i++) {
		const struct held_file *item = &held->files[i];

		if (item->device == file->device && item->inode == file->inode &&
		    file_identity__is(&item->identity, file))
			return item;
	}
	return NULL;
}

static void hold_file(struct held_files *held, const struct passed_file *passed, int owned_fd)
{
	CLEANUP_CLOSE int fd = owned_fd;
	struct held_file file = {.device = passed->device, .inode = passed->inode};
	struct held_file *place = &held->files[held->came % held->max];
	struct sym_file_id id = {.device = passed->device, .inode = passed->inode};

	supervisor__touch(held->supervisor, passed->pid, passed->device, false);
	if (file_identity__read(&file.identity, fd))
		return;
	id.size = (uint64_t)file.identity.size;
	id.modified = file_time(&file.identity.modified);
	if (find(held, &id))
		return;
	if (held->nr == held->max) {
		/* To close a file can mean to wait for its file system, too. */
		supervisor__touch(held->supervisor, 0, place->device, false);
		close(place->fd);
	} else {
		held->nr++;
	}
	debug_log__say(DEBUG_LOG_FILES, "holds inode %llu of device %u:%u, which has been passed",
		       (unsigned long long)file.inode, major(file.device), minor(file.device));
	file.fd = TAKE_FD(fd);
	*place = file;
	held->came++;
}

static const struct held_map *find_map(const struct held_files *held, pid_t pid, uint64_t program)
{
	for (size_t i = 0; i < held->nr_maps; i++)
		if (held->maps[i].pid == pid && held->maps[i].program == program)
			return &held->maps[i];
	return NULL;
}

static void hold_map(struct held_files *held, const struct passed_file *passed, int fd)
{
	const struct held_map *before = find_map(held, passed->pid, passed->program);
	size_t place = before ? (size_t)(before - held->maps) : held->maps_came++ % held->maps_max;

	if (place < held->nr_maps) {
		supervisor__touch(held->supervisor, held->maps[place].pid, 0, true);
		close(held->maps[place].fd);
	} else {
		held->nr_maps++;
	}
	held->maps[place] =
		(struct held_map){.fd = fd, .pid = passed->pid, .program = passed->program};
}

void held_files__pass(struct held_files *held, const struct passed_file *passed, int fd)
{
	if (passed->program)
		hold_map(held, passed, fd);
	else
		hold_file(held, passed, fd);
}

int held_files__open(const struct held_files *held, const struct sym_file_id *id, pid_t pid)
{
	const struct held_file *file = find(held, id);
	struct file_identity now = {0};
	int err;

	if (!file)
		return -ENOENT;
	debug_log__say(DEBUG_LOG_FILES, "has inode %llu of device %u:%u, which was passed",
		       (unsigned long long)file->inode, major(file->device), minor(file->device));
	supervisor__touch(held->supervisor, pid, file->device, false);
	err = file_identity__read(&now, file->fd);
	if (err)
		return err;
	return file_identity__is(&now, id) ? descriptor__copy(file->fd) : -ESTALE;
}

int held_files__open_map(const struct held_files *held, pid_t pid, uint64_t program)
{
	const struct held_map *map = program ? find_map(held, pid, program) : NULL;
	const struct process process = {.pid = pid};

	return map ? supervisor__open_jit_map(held->supervisor, &process, map->fd) : -ENOENT;
}
