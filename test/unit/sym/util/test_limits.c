// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/limits.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "test/unit/tap.h"

/* The hint for a code, under a limit that is set for the moment. */
static void check_hint(__rlimit_resource_t resource, rlim_t most, int code, const char *wanted)
{
	char text[LIMIT_HINT_SIZE];
	struct rlimit before, limit;

	getrlimit(resource, &before);
	limit = (struct rlimit){.rlim_cur = most, .rlim_max = before.rlim_max};
	CHECK_INT(setrlimit(resource, &limit), 0);
	limit__hint(code, text);
	setrlimit(resource, &before);
	CHECK_STR(text, wanted);
}

static void named_test(void)
{
	check_hint(RLIMIT_NOFILE, 20, -EMFILE,
		   "; 20 may be open (RLIMIT_NOFILE): as root, 'ulimit -n 1024' allows more");
	check_hint(RLIMIT_AS, (rlim_t)1 << 40, -ENOMEM,
		   "; a process may have 1073741824 KB of addresses (RLIMIT_AS): "
		   "'ulimit -v unlimited' allows more");
	check_hint(RLIMIT_DATA, (rlim_t)1 << 40, -ENOMEM,
		   "; a process may have 1073741824 KB of data (RLIMIT_DATA): "
		   "'ulimit -d unlimited' allows more");
}

static void processes_test(void)
{
	check_hint(RLIMIT_NPROC, 2, -EAGAIN,
		   geteuid() ? "; this user may have 2 processes (RLIMIT_NPROC): 'ulimit -u' sets "
			       "that, and a cgroup can have a limit, too (pids.max)" :
			       "; no more processes can be started: pids.max of the cgroup, or "
			       "kernel.threads-max");
}

static void others_test(void)
{
	check_hint(RLIMIT_NOFILE, 20, -ENOENT, "");
	check_hint(RLIMIT_NOFILE, 20, 0, "");
}

static const struct tap_test tests[] = {
	{"a limit that was run into is named, and what raises it", named_test},
	{"so is that of processes, which root has not", processes_test},
	{"other failures come from none", others_test},
};

int main(void)
{
	return TAP_RUN(tests);
}
