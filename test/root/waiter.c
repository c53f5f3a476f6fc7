// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits in known ways, and says how long: waiter KIND TIMES MILLISECONDS. At its end a line for
 * each thread that waited:
 *
 *   1234 waits_in_sleep 10 200123456 812345
 *
 * with its TID, where it waited, how often, for how long by its own clock, in nanoseconds, and how
 * much CPU time it used meanwhile. Waits are two calls below the function that is named, so that
 * walks by frame pointers see it, too: the C library keeps none.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int times, milliseconds;

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct timespec delay(void)
{
	return (struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L};
}

/* Do it so often, and say how long that took. */
static __attribute__((noinline)) void measure(const char *name, void (*wait)(void))
{
	uint64_t cpu = read_clock(CLOCK_THREAD_CPUTIME_ID), start = read_clock(CLOCK_MONOTONIC);

	for (int i = 0; i < times; i++)
		wait();
	printf("%ld %s %d %llu %llu\n", syscall(SYS_gettid), name, times,
	       (unsigned long long)(read_clock(CLOCK_MONOTONIC) - start),
	       (unsigned long long)(read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu));
	fflush(stdout);
}

#define MEASURE(wait) measure(#wait, wait)

static __attribute__((noinline)) void sleep_once(void)
{
	struct timespec left = delay();

	clock_nanosleep(CLOCK_MONOTONIC, 0, &left, NULL);
}

static __attribute__((noinline)) void waits_in_sleep(void)
{
	sleep_once();
	asm volatile("");
}

static __attribute__((noinline)) void futex_once(void)
{
	static int word;
	struct timespec timeout = delay();

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &timeout, NULL, 0);
}

static __attribute__((noinline)) void waits_in_futex(void)
{
	futex_once();
	asm volatile("");
}

static int there[2], back[2];

static __attribute__((noinline)) void read_once(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		abort();
}

static void write_once(int fd)
{
	if (write(fd, "", 1) != 1)
		abort();
}

static __attribute__((noinline)) void waits_in_pipe(void)
{
	write_once(there[1]);
	read_once(back[0]);
	asm volatile("");
}

static void *answer(void *unused)
{
	for (int i = 0; i < times; i++) {
		struct timespec left = delay();

		read_once(there[0]);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &left, NULL);
		write_once(back[1]);
	}
	return unused;
}

static int file = -1;

static __attribute__((noinline)) void sync_once(void)
{
	if (pwrite(file, "x", 1, 0) != 1 || fsync(file))
		abort();
}

static __attribute__((noinline)) void waits_for_disk(void)
{
	sync_once();
	asm volatile("");
}

static bool is_stopped(pid_t pid)
{
	char path[32], text[256];
	int fd;
	ssize_t length;
	const char *state;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	state = strrchr(text, ')');
	return state && state[2] == 'T';
}

static __attribute__((noinline)) void stop_once(void)
{
	pid_t stopped = getpid();

	if (fork() == 0) {
		struct timespec moment = {0, 1000000}, left = delay();

		while (!is_stopped(stopped))
			clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &left, NULL);
		kill(stopped, SIGCONT);
		_exit(0);
	}
	raise(SIGSTOP);
	wait(NULL);
}

static __attribute__((noinline)) void waits_stopped(void)
{
	stop_once();
	asm volatile("");
}

static __attribute__((noinline)) void vfork_once(void)
{
	pid_t child = vfork();

	if (child == 0) {
		struct timespec left = delay();

		clock_nanosleep(CLOCK_MONOTONIC, 0, &left, NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static __attribute__((noinline)) void waits_in_vfork(void)
{
	vfork_once();
	asm volatile("");
}

static void *sleep_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* exec() in a thread that is not the first: all others end, and it becomes the first. */
static void *become_sleeper(void *program)
{
	char number[16], delay_text[16];

	snprintf(number, sizeof(number), "%d", times);
	snprintf(delay_text, sizeof(delay_text), "%d", milliseconds);
	execl(program, program, "sleep", number, delay_text, NULL);
	abort();
}

static void start_thread(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, argument))
		abort();
}

static void *measure_sleep(void *unused)
{
	MEASURE(waits_in_sleep);
	return unused;
}

int main(int argc, char **argv)
{
	const char *kind = argc == 4 ? argv[1] : "";

	if (argc == 4) {
		times = atoi(argv[2]);
		milliseconds = atoi(argv[3]);
	}
	if (!strcmp(kind, "sleep")) {
		MEASURE(waits_in_sleep);
	} else if (!strcmp(kind, "futex")) {
		MEASURE(waits_in_futex);
	} else if (!strcmp(kind, "pipe")) {
		if (pipe(there) || pipe(back))
			return 1;
		start_thread(answer, NULL);
		MEASURE(waits_in_pipe);
	} else if (!strcmp(kind, "disk")) {
		file = open("synced", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (file < 0)
			return 1;
		MEASURE(waits_for_disk);
	} else if (!strcmp(kind, "stopped")) {
		MEASURE(waits_stopped);
	} else if (!strcmp(kind, "vfork")) {
		MEASURE(waits_in_vfork);
	} else if (!strcmp(kind, "exec")) {
		start_thread(become_sleeper, argv[0]);
		sleep_for_ever(NULL);
	} else if (!strcmp(kind, "ends")) {
		/* A thread that ends while it waits. */
		start_thread(sleep_for_ever, NULL);
		MEASURE(waits_in_sleep);
	} else if (!strcmp(kind, "threads")) {
		/* So many threads, each of which sleeps once. */
		pthread_t threads[64];
		int nr = times < 64 ? times : 64;

		times = 1;
		for (int i = 0; i < nr; i++)
			if (pthread_create(&threads[i], NULL, measure_sleep, NULL))
				return 1;
		for (int i = 0; i < nr; i++)
			pthread_join(threads[i], NULL);
	} else {
		fprintf(stderr, "waiter: KIND TIMES MILLISECONDS\n");
		return 2;
	}
	return 0;
}
