// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/util/descriptors.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int descriptors__close_from(unsigned int first)
{
	struct rlimit limit;

	if (syscall(SYS_close_range, first, ~0U, 0) == 0) /* 5.9+ */
		return 0;
	/* A container's seccomp profile can be older than that. */
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return -EMFILE;
	for (rlim_t fd = first; fd < limit.rlim_cur; fd++)
		close((int)fd);
	return 0;
}
