// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes that are soon another program, or none, for the root tests:
 *
 *   lives once                asks() calls counted(), a system call, and it ends at once
 *   lives forks NUMBER        that many children do the same, one after the other
 *   lives idle NUMBER         that many children wait as long as it lives, and it says so
 *   lives burn                works() uses some hundredths of a second of a CPU, and it ends
 *   lives buried              asks() calls counted(), below more stack than is sent to be walked
 *   lives leaderless          its first thread ends, and another one spins in code that it has
 *                             generated, at the address that it says, for a minute
 *   lives exec PROGRAM ARG... asks() calls counted(), and it becomes that program
 *   lives waits PROGRAM ARG... it does so when it has read a line
 *   lives as PID PROGRAM ARG... runs that program with that PID, and waits for it;
 *                             status 77: this kernel cannot do that, or somebody has the PID
 *
 * Compiled with frame pointers and not optimised, so that each call is a frame, and to fixed
 * addresses: a copy with other names has them in the same places.
 */
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine_code.h"

#define CANNOT 77

/* Not through the library, whose end of a program takes its time. */
static void end(int status)
{
	syscall(SYS_exit_group, status);
}

static void counted(void)
{
	syscall(SYS_getppid);
}

static void asks(void)
{
	counted();
}

static void once(void)
{
	asks();
	end(0);
}

static void works(void)
{
	while (clock() < CLOCKS_PER_SEC / 25)
		for (volatile int i = 0; i < 1000000; i++)
			;
}

static void burn(void)
{
	works();
	end(0);
}

static void buried(void)
{
	volatile char room[64 * 1024];

	room[0] = 0;
	asks();
	end(room[0]);
}

static void *run_code(void *code)
{
	((void (*)(void))(uintptr_t)code)();
	return NULL;
}

static int leaderless(void)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t other;

	if (code == MAP_FAILED)
		return 1;
	put_code(code, code_spin_without_frame, sizeof(code_spin_without_frame));
	printf("%lx\n", (unsigned long)(uintptr_t)code);
	fflush(stdout);
	alarm(60);
	if (pthread_create(&other, NULL, run_code, code))
		return 1;
	pthread_exit(NULL);
}

static int forks(int number)
{
	for (int i = 0; i < number; i++) {
		pid_t pid = fork();

		if (pid == 0)
			once();
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}

static int idle(int number)
{
	for (int i = 0; i < number; i++) {
		pid_t pid = fork();

		if (pid == 0 && !prctl(PR_SET_PDEATHSIG, SIGKILL))
			pause();
		if (pid <= 0)
			return 1;
	}
	puts("idle");
	fflush(stdout);
	return pause();
}

static int become(char **program)
{
	asks();
	execv(program[0], program);
	return 1;
}

static int run_as(pid_t pid, char **program)
{
	struct clone_args arguments = {
		.exit_signal = SIGCHLD,
		.set_tid = (uint64_t)(uintptr_t)&pid,
		.set_tid_size = 1,
	};
	long child = syscall(SYS_clone3, &arguments, sizeof(arguments));
	int status;

	if (child == 0) {
		execv(program[0], program);
		_exit(1);
	}
	if (child < 0)
		return CANNOT;
	return waitpid((pid_t)child, &status, 0) == child && WIFEXITED(status) ?
		       WEXITSTATUS(status) :
		       1;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "once"))
		once();
	if (argc == 2 && !strcmp(argv[1], "burn"))
		burn();
	if (argc == 2 && !strcmp(argv[1], "buried"))
		buried();
	if (argc == 2 && !strcmp(argv[1], "leaderless"))
		return leaderless();
	if (argc == 3 && !strcmp(argv[1], "forks"))
		return forks(atoi(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "idle"))
		return idle(atoi(argv[2]));
	if (argc >= 3 && !strcmp(argv[1], "exec"))
		return become(argv + 2);
	if (argc >= 3 && !strcmp(argv[1], "waits") && getchar() != EOF)
		return become(argv + 2);
	if (argc >= 4 && !strcmp(argv[1], "as"))
		return run_as(atoi(argv[2]), argv + 3);
	fprintf(stderr, "usage: lives once | forks NUMBER | idle NUMBER | burn | leaderless | "
			"exec PROGRAM ARG... | waits PROGRAM ARG... | as PID PROGRAM ARG...\n");
	return 2;
}
