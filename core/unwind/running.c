// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/running.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "core/options/pid_list.h"
#include "sym/child/proc_stat.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"

static bool is_at_work(pid_t pid)
{
	CLEANUP_CLOSEDIR DIR *tasks = NULL;
	struct proc_stat stat = {0};
	char path[64];
	pid_t tid;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (stat.state != 'R' && (tid = proc_directory__next(tasks)))
		(void)proc_stat__read(tid, &stat);
	return stat.state == 'R';
}

int running_processes__add(struct pid_list *pids, uint64_t until)
{
	CLEANUP_CLOSEDIR DIR *directory = opendir("/proc");
	size_t capacity = pids->nr;
	pid_t pid;

	while (monotonic_now() < until && (pid = proc_directory__next(directory))) {
		if (pid == getpid() || !is_at_work(pid))
			continue;
		if (ARRAY_GROW(pids->pids, pids->nr, capacity))
			return -ENOMEM;
		pids->pids[pids->nr++] = pid;
	}
	return 0;
}
