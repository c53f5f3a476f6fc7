// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * As many events as can be made: make_calls THREADS CALLS. Each thread calls event() CALLS times
 * (0: until a signal), with 20 frames of this program on its stack, and event() makes a system
 * call. Then the program prints how many calls were made.
 *
 * Compiled with frame pointers and not optimised, so that each call is a frame.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../system_call.h"

#define THREADS_MAX 64

/* thread(), descend() for each of these and once more, and event(). */
#define DESCENTS 17

static uint64_t calls_wanted;

void event(void);
void event(void)
{
	call_getppid();
}

static uint64_t descend(int left)
{
	uint64_t made = 0;

	if (left > 0)
		return descend(left - 1);
	do {
		event();
		made++;
	} while (made != calls_wanted);
	return made;
}

static void *thread(void *made)
{
	*(uint64_t *)made = descend(DESCENTS);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t made[THREADS_MAX], sum = 0;
	pthread_t threads[THREADS_MAX];
	int nr = argc == 3 ? atoi(argv[1]) : 0;

	if (nr < 1 || nr > THREADS_MAX) {
		fprintf(stderr, "usage: make_calls THREADS CALLS\n");
		return 2;
	}
	calls_wanted = strtoull(argv[2], NULL, 10);
	for (int i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, thread, &made[i]))
			return 1;
	for (int i = 0; i < nr; i++) {
		pthread_join(threads[i], NULL);
		sum += made[i];
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
