// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/watched_process.h"

#include <errno.h>
#include <sys/stat.h>

#include "sym/child/watched.h"
#include "sym/process/maps.h"
#include "sym/process/process.h"
#include "sym/util/descriptors.h"

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

	if (watched__avoids_jit_map(watched, process->pid))
		return -ECANCELED;
	watched__touch(watched, process->pid, 0, true);
	fd = held >= 0 ? descriptor__copy(held) : process__open_jit_map(process);
	/* On a disk it may take the time that it needs. */
	if (fd >= 0 && fstat(fd, &st) == 0)
		watched__touch(watched, process->pid, st.st_dev, true);
	return fd;
}
