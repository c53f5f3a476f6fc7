// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/limits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* What is allowed now; false: whatever is asked for. */
static bool is_limited(__rlimit_resource_t resource, uintmax_t *most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return false;
	*most = limit.rlim_cur;
	return true;
}

const char *limit__hint(int code, char text[LIMIT_HINT_SIZE])
{
	uintmax_t most;

	text[0] = '\0';
	if (code == -EMFILE && is_limited(RLIMIT_NOFILE, &most))
		snprintf(text, LIMIT_HINT_SIZE,
			 "; %ju may be open (RLIMIT_NOFILE): as root, 'ulimit -n 1024' allows more",
			 most);
	else if (code == -ENOMEM && is_limited(RLIMIT_AS, &most))
		snprintf(text, LIMIT_HINT_SIZE,
			 "; a process may have %ju KB of addresses (RLIMIT_AS): "
			 "'ulimit -v unlimited' allows more",
			 most / 1024);
	else if (code == -ENOMEM && is_limited(RLIMIT_DATA, &most))
		snprintf(text, LIMIT_HINT_SIZE,
			 "; a process may have %ju KB of data (RLIMIT_DATA): "
			 "'ulimit -d unlimited' allows more",
			 most / 1024);
	/* fork(): root has no limit of its own. */
	else if (code == -EAGAIN && geteuid() && is_limited(RLIMIT_NPROC, &most))
		snprintf(text, LIMIT_HINT_SIZE,
			 "; this user may have %ju processes (RLIMIT_NPROC): 'ulimit -u' sets "
			 "that, and a cgroup can have a limit, too (pids.max)",
			 most);
	else if (code == -EAGAIN)
		snprintf(text, LIMIT_HINT_SIZE,
			 "; no more processes can be started: pids.max of the cgroup, or "
			 "kernel.threads-max");
	return text;
}
