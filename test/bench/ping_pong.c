// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ping_pong: two threads on one CPU that hand a byte to and fro through pipes, without end, below
 * 12 calls. Each hand-over is a switch. Prints its PID and the TIDs.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int pipes[2][2];
static volatile int stop;

static __attribute__((noinline)) int hand_over(int side, int depth)
{
	char byte = 0;

	if (depth)
		return hand_over(side, depth - 1) + 1;
	while (!stop)
		if (read(pipes[side][0], &byte, 1) != 1 || write(pipes[!side][1], &byte, 1) != 1)
			exit(1);
	return 0;
}

#define DEPTH 12

static void *side(void *number)
{
	printf("%ld\n", syscall(SYS_gettid));
	fflush(stdout);
	hand_over((int)(long)number, DEPTH);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(1, &cpus);
	/* On a machine with one CPU there is no other. */
	if (sched_setaffinity(0, sizeof(cpus), &cpus) && sysconf(_SC_NPROCESSORS_ONLN) > 1)
		return 1;
	printf("%d\n", getpid());
	if (pipe(pipes[0]) || pipe(pipes[1]) || pthread_create(&thread, NULL, side, (void *)1L) ||
	    write(pipes[0][1], "", 1) != 1)
		return 1;
	side(NULL);
	return 0;
}
