// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/child/proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sym/util/cleanup.h"

int proc_file__open(int at, const char *path, FILE **file)
{
	CLEANUP_CLOSE int fd = openat(at, path, O_RDONLY | O_CLOEXEC);

	*file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!*file)
		return errno == ENOENT ? -ESRCH : -errno;
	(void)TAKE_FD(fd); /* it belongs to the file */
	return 0;
}

pid_t proc_directory__next(DIR *directory)
{
	const struct dirent *entry;
	pid_t number = 0;

	while (directory && number <= 0 && (entry = readdir(directory)))
		number = (pid_t)strtol(entry->d_name, NULL, 10);
	return number > 0 ? number : 0;
}

/* A comm can hold anything: count the fields from behind its last ')'. */
int proc_stat__read_at(int at, const char *path, struct proc_stat *stat)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	char line[1024];
	const char *rest;
	size_t length;
	int err = proc_file__open(at, path, &file);

	if (err)
		return err;
	length = fread(line, 1, sizeof(line) - 1, file);
	line[length] = '\0';
	rest = strrchr(line, ')');
	if (!rest || sscanf(rest,
			    ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
			    "%*d %*d %*d %" SCNu64 " %*u %*d %*u %*u %*u %" SCNu64,
			    &stat->state, &stat->start_time, &stat->start_stack) != 3)
		return -ESRCH;
	return 0;
}

int proc_stat__read(pid_t pid, struct proc_stat *stat)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return proc_stat__read_at(AT_FDCWD, path, stat);
}
