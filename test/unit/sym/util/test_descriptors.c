// SPDX-License-Identifier: GPL-2.0-or-later
/* Descriptors are closed in a child, whose status says which are left. */
#include "sym/util/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/unit/tap.h"

#define FDS 64

/* As of a kernel that has no close_range(): see "--wrap" in ld(1). */
static bool is_old;

long __wrap_syscall(long number, unsigned int first, unsigned int last, unsigned int flags);
long __real_syscall(long number, unsigned int first, unsigned int last, unsigned int flags);

long __wrap_syscall(long number, unsigned int first, unsigned int last, unsigned int flags)
{
	errno = ENOSYS;
	return is_old ? -1 : __real_syscall(number, first, last, flags);
}

/* A bit for each of the first eight that is open; -1 if one of the others is, too. */
static int open_ones(void)
{
	int open = 0;

	for (int fd = 0; fd < FDS; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			open |= fd < 8 ? 1 << fd : -1;
	return open;
}

/* The descriptors of 0 to 63 that are left in a child which keeps these by the function. */
static int left_by(int (*keep)(int *kept, size_t nr), const int *kept, size_t nr)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		int copy[FDS];

		for (size_t i = 0; i < nr; i++)
			copy[i] = kept[i];
		for (int fd = 0; fd < FDS; fd++)
			if (fcntl(fd, F_GETFD) < 0)
				dup2(STDOUT_FILENO, fd);
		_exit(keep(copy, nr) ? 0 : open_ones());
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int left(const int *kept, size_t nr)
{
	return left_by(descriptors__close_others, kept, nr);
}

static int keep(int *kept, size_t nr)
{
	return descriptors__keep(kept, nr);
}

static void check_left(void)
{
	CHECK_INT(left(NULL, 0), 0);
	CHECK_INT(left((const int[]){0}, 1), 1);
	CHECK_INT(left((const int[]){7, 2, 5}, 3), 1 << 7 | 1 << 2 | 1 << 5);
	CHECK_INT(left((const int[]){3, 2, 1, 0}, 4), 15);
	CHECK_INT(left((const int[]){4, 4, 1, 4}, 4), 1 << 4 | 1 << 1);
	/* A descriptor that is not open is not missed. */
	CHECK_INT(left((const int[]){1, 100000}, 2), 1 << 1);
	CHECK_INT(left_by(keep, NULL, 0), 0);
	CHECK_INT(left_by(keep, (const int[]){5}, 1), 1);
	CHECK_INT(left_by(keep, (const int[]){0}, 1), 1);
	CHECK_INT(left_by(keep, (const int[]){2, 1, 0}, 3), 7);
	CHECK_INT(left_by(keep, (const int[]){63, 63, 4, 0}, 4), 15);
	/* Here a descriptor that is not open is missed. */
	CHECK_INT(left_by(keep, (const int[]){100000}, 1), 0);
	CHECK_INT(left_by(keep, (const int[DESCRIPTORS_KEPT_MAX + 1]){0}, DESCRIPTORS_KEPT_MAX + 1),
		  0);
}

static void others_test(void)
{
	is_old = false;
	check_left();
}

static void old_kernels_test(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY) {
		tap_skip("there is no limit of descriptors");
		return;
	}
	is_old = true;
	check_left();
}

static const struct tap_test tests[] = {
	{"all but some are closed", others_test},
	{"so they are without close_range()", old_kernels_test},
};

int main(void)
{
	return TAP_RUN(tests);
}
