// SPDX-License-Identifier: GPL-2.0-or-later
/* When whose map is looked for; clock, child and result are those of the test. */
#include "core/unwind/generators.h"

#include <errno.h>
#include <time.h>

#include "sym/util/clock.h"
#include "test/unit/tap.h"

static uint64_t now;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	*time = (struct timespec){.tv_sec = (time_t)(now / NANOSECONDS),
				  .tv_nsec = (long)(now % NANOSECONDS)};
	return 0;
}

static pid_t started; /* whom the last child looks for */
static int nr_started, nr_stopped, start_result, look_result, result;

int jit_map_reader__start(struct reader_child *child, const struct jit_map_owner *generator,
			  int socket)
{
	(void)child;
	(void)socket;
	started = generator->pid;
	nr_started++;
	return start_result;
}

int reader_child__look(struct reader_child *child)
{
	(void)child;
	return look_result;
}

int jit_map_reader__finish(struct reader_child *child, struct jit_map_owner *generator)
{
	(void)child;
	nr_stopped++;
	generator->inode++;
	return result;
}

void reader_child__stop(struct reader_child *child)
{
	(void)child;
	nr_stopped++;
}

static struct generators generators;

static void begin(void)
{
	generators = (struct generators){0};
	now = 1000 * NANOSECONDS;
	nr_started = nr_stopped = start_result = look_result = result = 0;
}

/* Whether a child is started within the next seconds for who is wanted all the time. */
static int seconds_until_look(int most)
{
	int before = nr_started;

	for (int seconds = 0; seconds <= most; seconds++) {
		generators__want(&generators, 1, 16);
		(void)generators__go(&generators, 0);
		if (nr_started > before)
			return seconds;
		now += NANOSECONDS;
	}
	return -1;
}

static void one_after_the_other(void)
{
	begin();
	CHECK(!generators__go(&generators, 0));
	CHECK_INT(generators__poll(&generators).fd, -1);
	generators__want(&generators, 1, 16);
	generators__want(&generators, 2, 16);
	generators__want(&generators, 1, 16);
	CHECK(generators__go(&generators, 0));
	CHECK(generators__go(&generators, 0));
	CHECK_INT(nr_started, 1);
	look_result = 1;
	CHECK(generators__go(&generators, 0));
	CHECK_INT(nr_started, 2);
	CHECK_INT(started, 2);
	CHECK(!generators__go(&generators, 0));
	CHECK_INT(nr_stopped, 2);
}

/* After 1, 2, 4 and 8 seconds; and after 8 where there is one. */
static void map_that_is_not_there(void)
{
	begin();
	CHECK_INT(seconds_until_look(0), 0);
	look_result = 1;
	result = -ENOENT;
	for (int pause = 1; pause <= 8; pause *= 2) {
		CHECK(!generators__go(&generators, 0));
		CHECK_INT(seconds_until_look(20), pause);
	}
	result = 0;
	CHECK(!generators__go(&generators, 0));
	CHECK_INT(seconds_until_look(20), 8);
}

/* Walks ask once a second: the next time is not too early, however long a look takes. */
static void look_that_takes_long(void)
{
	begin();
	CHECK_INT(seconds_until_look(0), 0);
	now += NANOSECONDS / 10;
	look_result = 1;
	result = -ENOENT;
	CHECK(!generators__go(&generators, 0));
	now += NANOSECONDS / 10 * 9;
	CHECK_INT(seconds_until_look(0), 0);
}

static void map_that_does_not_answer(void)
{
	begin();
	CHECK_INT(seconds_until_look(0), 0);
	look_result = -ETIMEDOUT;
	CHECK(!generators__go(&generators, 0));
	CHECK_INT(nr_stopped, 1);
	CHECK_INT(seconds_until_look(20), 1);
	/* No child can be had. */
	begin();
	start_result = -EAGAIN;
	CHECK_INT(seconds_until_look(0), 0);
	CHECK(!generators__go(&generators, 0));
	CHECK_INT(seconds_until_look(20), 1);
}

/* The one that was heard of first goes, also while a child looks for its map. */
static void many_programs(void)
{
	begin();
	look_result = 1;
	for (pid_t pid = 1; pid <= GENERATORS_MAX; pid++, now++) {
		generators__want(&generators, pid, 16);
		while (generators__go(&generators, 0))
			;
	}
	CHECK_INT(nr_started, GENERATORS_MAX);
	generators__want(&generators, 1, 16);
	now++;
	CHECK(!generators__go(&generators, 0));
	look_result = 0;
	generators__want(&generators, 1, 32);
	CHECK(generators__go(&generators, 0));
	for (pid_t pid = 1; pid <= GENERATORS_MAX; pid++, now++)
		generators__want(&generators, pid, 48);
	/* What is found for a program that has gone is nobody's. */
	look_result = 1;
	CHECK(generators__go(&generators, 0));
	for (size_t i = 0; i < GENERATORS_MAX; i++)
		CHECK_INT(generators.items[i].generator.inode, 0);
}

static const struct tap_test tests[] = {
	{"maps are looked for one after the other", one_after_the_other},
	{"one that is not there is looked for less and less often", map_that_is_not_there},
	{"a look that takes long is not the reason for another second", look_that_takes_long},
	{"one that does not answer is left alone for a while", map_that_does_not_answer},
	{"only so many programs are known", many_programs},
};

int main(void)
{
	return TAP_RUN(tests);
}
