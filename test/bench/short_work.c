// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs that live for a moment, as those of a build: short_work MILLISECONDS SECONDS JOBS
 * starts itself again and again, JOBS at a time, for so long, and says how often it did;
 * each uses so many milliseconds of CPU time and ends. Every frame of a sample has a name.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t milliseconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void work_inside(void)
{
	for (volatile int i = 0; i < 20000; i++)
		;
}

static void work(uint64_t length)
{
	while (milliseconds(CLOCK_PROCESS_CPUTIME_ID) < length)
		work_inside();
}

static void start(const char *program, const char *length)
{
	if (fork() == 0) {
		execl(program, "short_work", length, (char *)NULL);
		_exit(1);
	}
}

static long start_until(uint64_t end, const char *program, const char *length, int jobs)
{
	long started = 0;

	for (int i = 0; i < jobs; i++, started++)
		start(program, length);
	while (wait(NULL) > 0) {
		if (milliseconds(CLOCK_MONOTONIC) >= end)
			continue;
		start(program, length);
		started++;
	}
	return started;
}

int main(int argc, char **argv)
{
	uint64_t length = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, end;

	if (argc == 2) {
		work(length);
		return 0;
	}
	if (argc != 4 || atoi(argv[3]) < 1) {
		fprintf(stderr, "usage: short_work MILLISECONDS [SECONDS JOBS]\n");
		return 2;
	}
	end = milliseconds(CLOCK_MONOTONIC) + strtoull(argv[2], NULL, 10) * 1000;
	printf("%ld\n", start_until(end, argv[0], argv[1], atoi(argv[3])));
	return 0;
}
