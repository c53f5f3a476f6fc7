// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/child/watched.h"

#include <errno.h>

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

bool watched__avoids_jit_map(const struct watched *watched, pid_t pid)
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
