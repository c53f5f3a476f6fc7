// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/running.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/options/pid_list.h"
#include "sym/child/proc_stat.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"

/* The number that the next entry of a directory of /proc is named by; 0: there is none. */
static pid_t next_number(DIR *directory)
{
	const struct dirent *entry;
	pid_t number = 0;

	while (directory && number <= 0 && (entry = readdir(directory)))
		number = (pid_t)strtol(entry->d_name, NULL, 10);
	return number > 0 ? number : 0;
}

static bool is_at_work(pid_t pid)
{
	CLEANUP_CLOSEDIR DIR *tasks = NULL;
	struct proc_stat stat = {0};
	char path[64];
	pid_t tid;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (stat.state != 'R' && (tid = next_number(tasks)))
		(void)proc_stat__read(tid, &stat);
	return stat.state == 'R';
}

int running_processes__add(struct pid_list *pids, uint64_t until)
{
	CLEANUP_CLOSEDIR DIR *directory = opendir("/proc");
	size_t capacity = pids->nr;
	pid_t pid;

	while (monotonic_now() < until && (pid = next_number(directory))) {
		if (pid == getpid() || !is_at_work(pid))
			continue;
		if (ARRAY_GROW(pids->pids, pids->nr, capacity))
			return -ENOMEM;
		pids->pids[pids->nr++] = pid;
	}
	return 0;
}
