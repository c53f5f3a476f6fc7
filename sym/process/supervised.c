// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/supervised.h"

#include <errno.h>
#include <sys/stat.h>

#include "sym/child/supervisor.h"
#include "sym/process/maps.h"
#include "sym/process/process.h"
#include "sym/util/descriptors.h"

int supervisor__read_process(const struct supervisor *supervisor, struct process *process,
			     pid_t pid)
{
	if (supervisor__avoids(supervisor, pid, 0))
		return -ECANCELED;
	supervisor__touch(supervisor, pid, 0, false);
	return process__read(process, pid);
}

int supervisor__open_file(const struct supervisor *supervisor, const struct process *process,
			  const struct mapping *mapping)
{
	if (!mapping->inode)
		return -ENOENT;
	if (supervisor__avoids(supervisor, process->pid, mapping->device))
		return -ECANCELED;
	supervisor__touch(supervisor, process->pid, mapping->device, false);
	return process__open_file(process, mapping);
}

int supervisor__open_jit_map(const struct supervisor *supervisor, const struct process *process,
			     int held)
{
	struct stat st;
	int fd;

	if (supervisor__avoids_jit_map(supervisor, process->pid))
		return -ECANCELED;
	supervisor__touch(supervisor, process->pid, 0, true);
	fd = held >= 0 ? descriptor__copy(held) : process__open_jit_map(process);
	/* On a disk it may take the time that it needs. */
	if (fd >= 0 && fstat(fd, &st) == 0)
		supervisor__touch(supervisor, process->pid, st.st_dev, true);
	return fd;
}
