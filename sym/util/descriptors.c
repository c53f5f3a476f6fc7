// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/debug_log.h"

static int close_all(unsigned int first, unsigned int last)
{
	struct rlimit limit;

	if (first > last || syscall(SYS_close_range, first, last, 0) == 0) /* 5.9+ */
		return 0;
	/* A container's seccomp profile can be older than that. */
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return -EMFILE;
	for (rlim_t fd = first; fd < limit.rlim_cur && fd <= last; fd++)
		close((int)fd);
	return 0;
}

/* All but the one for TRACEKIT_DEBUG. */
static int close_range_of(unsigned int first, unsigned int last)
{
	unsigned int log = (unsigned int)debug_log__fd();
	int err;

	if (debug_log__fd() < 0 || log < first || log > last)
		return close_all(first, last);
	err = close_all(first, log - 1);
	return err ? err : close_all(log + 1, last);
}

static int close_from(unsigned int first)
{
	return close_range_of(first, ~0U);
}

static int compare_fds(const void *a, const void *b)
{
	return COMPARE(*(const int *)a, *(const int *)b);
}

int descriptors__close_others(int *kept, size_t nr)
{
	unsigned int first = 0;
	int err = 0;

	array__sort(kept, nr, sizeof(*kept), compare_fds);
	for (size_t i = 0; i < nr && !err; i++) {
		if ((unsigned int)kept[i] > first)
			err = close_range_of(first, (unsigned int)kept[i] - 1);
		first = (unsigned int)kept[i] + 1;
	}
	return err ? err : close_from(first);
}

int descriptors__keep(const int *fds, size_t nr)
{
	int copies[DESCRIPTORS_KEPT_MAX];
	int err;

	if (nr > DESCRIPTORS_KEPT_MAX)
		return -EINVAL;
	/* There may be no room for copies while the others are open. */
	memcpy(copies, fds, nr * sizeof(*fds));
	err = descriptors__close_others(copies, nr);
	if (err)
		return err;
	/* Above all that they become, so that none is overwritten while it is needed. */
	for (size_t i = 0; i < nr; i++) {
		copies[i] = fcntl(fds[i], F_DUPFD, (int)nr);
		if (copies[i] < 0)
			return -errno;
	}
	for (size_t i = 0; i < nr; i++)
		if (dup2(copies[i], (int)i) < 0)
			return -errno;
	return close_from((unsigned int)nr);
}

int descriptor__copy(int fd)
{
	int copy;

	if (fd < 0)
		return -ENOENT;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return copy < 0 ? -errno : copy;
}
