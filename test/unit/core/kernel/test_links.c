// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/links.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "test/unit/tap.h"

#define CLOSED_TOGETHER 50

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t another = PTHREAD_COND_INITIALIZER;
static size_t begun,
	wanted; /* calls of close(): that have begun; that are to begin before any ends */

int __real_close(int fd);
int __wrap_close(int fd);

/* As a grace period: all that wait for it can go on at once. Whoever waits alone gives up. */
int __wrap_close(int fd)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	pthread_mutex_lock(&lock);
	if (++begun == wanted)
		pthread_cond_broadcast(&another);
	while (begun < wanted && !err)
		err = pthread_cond_timedwait(&another, &lock, &until);
	if (err)
		wanted = 0;
	pthread_mutex_unlock(&lock);
	return __real_close(fd);
}

/* Close nr descriptors, of which so many have to be closed at the same time. */
static void close_links(size_t nr, size_t together)
{
	int fds[1000] = {0};

	for (size_t i = 0; i < nr; i++)
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	begun = 0;
	wanted = together;
	links__close(fds, nr);
	CHECK_INT(begun, nr);
	CHECK_INT(wanted, together);
	for (size_t i = 0; i < nr; i++)
		CHECK_INT(fcntl(fds[i], F_GETFD), -1);
}

static void closes_together(void)
{
	close_links(CLOSED_TOGETHER, CLOSED_TOGETHER);
}

static void closes_all(void)
{
	close_links(0, 0);
	close_links(1, 1);
	close_links(1000, CLOSED_TOGETHER);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"links are closed side by side: they wait for one grace period", closes_together},
		{"all links are closed, whatever their number", closes_all},
	};

	return TAP_RUN(tests);
}
