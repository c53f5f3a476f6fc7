// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/watched.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "sym/process/maps.h"
#include "sym/process/process.h"

int progress__note_left_out(struct progress *progress, int err)
{
	if (err != -EFBIG)
		return err;
	progress->left_out = true;
	return 0;
}

void watched__touch(const struct watched *watched, pid_t pid, dev_t device, bool jit)
{
	volatile struct progress *progress = watched->progress;

	progress->pid = pid;
	progress->device = device;
	progress->jit = jit;
	progress->debug = false;
	progress->steps++;
}

void watched__touch_debug(const struct watched *watched, pid_t pid, dev_t device)
{
	volatile struct progress *progress = watched->progress;

	progress->pid = pid;
	progress->device = device;
	progress->jit = false;
	progress->debug = true;
	progress->steps++;
}

void watched__note_server(const struct watched *watched, uint64_t milliseconds)
{
	volatile struct progress *progress = watched->progress;

	progress->server_ms = milliseconds;
	progress->steps++;
}

void watched__tick(const struct watched *watched)
{
	volatile struct progress *progress = watched->progress;

	progress->steps++;
}

bool watched__avoids(const struct watched *watched, pid_t pid, dev_t device)
{
	const struct avoid_list *list = watched->avoided;

	for (size_t i = 0; i < list->nr; i++) {
		dev_t avoided = list->items[i].device;

		if (list->items[i].jit || list->items[i].debug)
			continue;
		if (avoided ? avoided == device : list->items[i].pid == pid)
			return true;
	}
	return false;
}

bool watched__avoids_debug(const struct watched *watched, pid_t pid)
{
	const struct avoid_list *list = watched->avoided;
	size_t processes = 0;

	for (size_t i = 0; i < list->nr; i++) {
		if (!list->items[i].debug)
			continue;
		if (list->items[i].pid == pid)
			return true;
		processes += list->items[i].pid != 0;
	}
	return pid && (processes >= AVOIDED_DEBUG_MAX || watched__avoids(watched, pid, 0));
}

static bool is_jit_map_avoided(const struct watched *watched, pid_t pid)
{
	const struct avoid_list *list = watched->avoided;
	size_t maps = 0;

	for (size_t i = 0; i < list->nr; i++) {
		if (!list->items[i].jit)
			continue;
		if (list->items[i].pid == pid || ++maps == AVOIDED_JIT_MAX)
			return true;
	}
	return watched__avoids(watched, pid, 0);
}

int watched__read_process(const struct watched *watched, struct process *process, pid_t pid)
{
	if (watched__avoids(watched, pid, 0))
		return -ECANCELED;
	watched__touch(watched, pid, 0, false);
	return process__read(process, pid);
}

int watched__open_file(const struct watched *watched, const struct process *process,
		       const struct mapping *mapping)
{
	if (!mapping->inode)
		return -ENOENT;
	if (watched__avoids(watched, process->pid, mapping->device))
		return -ECANCELED;
	watched__touch(watched, process->pid, mapping->device, false);
	return process__open_file(process, mapping);
}

int watched__open_jit_map(const struct watched *watched, const struct process *process, int held)
{
	struct stat st;
	int fd;

	if (is_jit_map_avoided(watched, process->pid))
		return -ECANCELED;
	watched__touch(watched, process->pid, 0, true);
	fd = held >= 0 ? watched__copy_fd(held) : process__open_jit_map(process);
	/* On a disk it may take the time that it needs. */
	if (fd >= 0 && fstat(fd, &st) == 0)
		watched__touch(watched, process->pid, st.st_dev, true);
	return fd;
}

int watched__copy_fd(int fd)
{
	int copy;

	if (fd < 0)
		return -ENOENT;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return copy < 0 ? -errno : copy;
}
