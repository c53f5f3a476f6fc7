// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/child/supervisor.h"

#include <errno.h>

int progress__note_left_out(struct progress *progress, int err)
{
	if (err != -EFBIG && err != -EMFILE && err != -ENFILE)
		return err;
	progress->left_out = true;
	return 0;
}

void supervisor__touch(const struct supervisor *supervisor, pid_t pid, dev_t device, bool jit)
{
	volatile struct progress *progress = supervisor->progress;

	progress->pid = pid;
	progress->device = device;
	progress->jit = jit;
	progress->debug = false;
	progress->steps++;
}

void supervisor__touch_debug(const struct supervisor *supervisor, pid_t pid, dev_t device)
{
	volatile struct progress *progress = supervisor->progress;

	progress->pid = pid;
	progress->device = device;
	progress->jit = false;
	progress->debug = true;
	progress->steps++;
}

void supervisor__note_server(const struct supervisor *supervisor, uint64_t milliseconds)
{
	volatile struct progress *progress = supervisor->progress;

	progress->server_ms = milliseconds;
	progress->steps++;
}

void supervisor__tick(const struct supervisor *supervisor)
{
	volatile struct progress *progress = supervisor->progress;

	progress->steps++;
}

bool supervisor__avoids(const struct supervisor *supervisor, pid_t pid, dev_t device)
{
	const struct avoid_list *list = supervisor->avoided;

	for (size_t i = 0; i < list->nr; i++) {
		dev_t avoided = list->items[i].device;

		if (list->items[i].jit || list->items[i].debug)
			continue;
		if (avoided ? avoided == device : list->items[i].pid == pid)
			return true;
	}
	return false;
}

bool supervisor__avoids_debug(const struct supervisor *supervisor, pid_t pid)
{
	const struct avoid_list *list = supervisor->avoided;
	size_t processes = 0;

	for (size_t i = 0; i < list->nr; i++) {
		if (!list->items[i].debug)
			continue;
		if (list->items[i].pid == pid)
			return true;
		processes += list->items[i].pid != 0;
	}
	return pid && (processes >= AVOIDED_DEBUG_MAX || supervisor__avoids(supervisor, pid, 0));
}

bool supervisor__avoids_jit_map(const struct supervisor *supervisor, pid_t pid)
{
	const struct avoid_list *list = supervisor->avoided;
	size_t maps = 0;

	for (size_t i = 0; i < list->nr; i++) {
		if (!list->items[i].jit)
			continue;
		if (list->items[i].pid == pid || ++maps == AVOIDED_JIT_MAX)
			return true;
	}
	return supervisor__avoids(supervisor, pid, 0);
}
