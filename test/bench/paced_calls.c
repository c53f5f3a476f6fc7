// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events at a given rate: paced_calls THREADS RATE SECONDS STACKS. It waits for a line on
 * stdin; then all threads together make RATE system calls a second for SECONDS, each
 * millisecond its share; with RATE 0 as many as they can. It prints the number of calls and
 * the nanoseconds that they took: more than SECONDS if the threads could not keep the rate.
 * Then it waits for another line, so that its stacks can still be named.
 *
 * Successive calls come by different paths of STACKS, each of 18 frames.
 *
 * Compiled with frame pointers and not optimised, so that each call is a frame.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../system_call.h"

#define THREADS_MAX 64
#define SECOND	    1000000000ULL
#define SHARE	    1000000ULL

/* At each of these steps a path goes one of two ways. */
#define STEPS 17

/* As many as are made between two looks at the clock. */
#define BATCH 64

/* of one thread */
static uint64_t rate, length, stacks;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static void event(void)
{
	call_getppid();
}

static void odd(uint64_t path, int left);

static void even(uint64_t path, int left)
{
	if (left == 0)
		event();
	else if (path % 2)
		odd(path / 2, left - 1);
	else
		even(path / 2, left - 1);
}

static void odd(uint64_t path, int left)
{
	if (left == 0)
		event();
	else if (path % 2)
		odd(path / 2, left - 1);
	else
		even(path / 2, left - 1);
}

static void sleep_until(uint64_t time)
{
	const struct timespec until = {
		.tv_sec = (time_t)(time / SECOND),
		.tv_nsec = (long)(time % SECOND),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/* How many calls are to have been made after that time. */
static uint64_t due(uint64_t made, uint64_t passed)
{
	if (rate == 0)
		return passed < length ? made + BATCH : made;
	return (passed < length ? passed : length) * rate / SECOND;
}

static uint64_t make_calls(void)
{
	uint64_t made = 0, start = now(), passed = 0;

	while (passed < length) {
		uint64_t until;

		passed = now() - start;
		until = due(made, passed);
		for (; made < until; made++)
			even(made % stacks, STEPS);
		if (rate && passed < length)
			sleep_until(start + (passed / SHARE + 1) * SHARE);
	}
	return made;
}

static void *thread(void *made)
{
	*(uint64_t *)made = make_calls();
	return NULL;
}

static int wait_for_line(void)
{
	int c;

	do
		c = getchar();
	while (c != EOF && c != '\n');
	return c;
}

int main(int argc, char **argv)
{
	uint64_t made[THREADS_MAX], sum = 0, start;
	pthread_t threads[THREADS_MAX];
	int nr = argc == 5 ? atoi(argv[1]) : 0;

	if (nr >= 1 && nr <= THREADS_MAX) {
		rate = strtoull(argv[2], NULL, 10) / (uint64_t)nr;
		length = strtoull(argv[3], NULL, 10) * SECOND;
		stacks = strtoull(argv[4], NULL, 10);
	}
	if (length == 0 || stacks == 0 || stacks > 1 << STEPS) {
		fprintf(stderr, "usage: paced_calls THREADS RATE SECONDS STACKS\n");
		return 2;
	}
	if (wait_for_line() == EOF)
		return 1;
	start = now();
	for (int i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, thread, &made[i]))
			return 1;
	for (int i = 0; i < nr; i++) {
		pthread_join(threads[i], NULL);
		sum += made[i];
	}
	printf("%llu %llu\n", (unsigned long long)sum, (unsigned long long)(now() - start));
	fflush(stdout);
	wait_for_line();
	return 0;
}
