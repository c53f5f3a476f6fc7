// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs whose calls are known, for the root tests: calls MODE NUMBER [LIBRARY], or
 * calls run MODE NUMBER, which makes them at once and ends.
 *
 * Says "ready", then at each SIGUSR1 makes its calls and says "done", with a number that the
 * mode gives a meaning; counted() is called unless a mode says otherwise. Compiled with frame
 * pointers and not optimised, so that each call is a frame.
 */
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../system_call.h"
#include "core/doctor/usdt.h"

void library_function(void);

/* The command line's words. */
static int number;
static const char *library, *another;

static volatile unsigned int work;

static void counted(void)
{
	work++;
}

/* main > names > one > counted, and twice as often main > names > two > counted */
static void one(void)
{
	for (int i = 0; i < number; i++)
		counted();
}

static void two(void)
{
	for (int i = 0; i < 2 * number; i++)
		counted();
}

static unsigned long names(void)
{
	one();
	two();
	return 0;
}

/* recurse() is called NUMBER + 1 times, each time from a deeper stack. */
static void recurse(int depth)
{
	if (depth)
		recurse(depth - 1);
	work++;
}

static unsigned long recursion(void)
{
	recurse(number);
	return 0;
}

static void *thread(void *argument)
{
	one();
	return argument;
}

/* Two threads, and NUMBER calls from each. */
static unsigned long threads(void)
{
	pthread_t ids[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&ids[i], NULL, thread, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

/* NUMBER calls from the process, and from each of two children. */
static unsigned long children(void)
{
	for (int i = 0; i < 2; i++) {
		if (!fork()) {
			one();
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	one();
	return 0;
}

static void call_and_end(void)
{
	one();
	_exit(0);
}

static void become_leaf(void)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	execl("/proc/self/exe", "calls", "leaf", text, (char *)NULL);
	_exit(1);
}

static void *leaf_thread(void *unused)
{
	become_leaf();
	return unused;
}

static void *forking_thread(void *unused)
{
	if (!fork())
		call_and_end();
	return unused;
}

static void in_thread(void *(*body)(void *))
{
	pthread_t id;

	pthread_create(&id, NULL, body, NULL);
	pthread_join(id, NULL);
}

/* Descendants of eight kinds, with NUMBER calls from each; the number is that of their calls. */
static unsigned long family(void)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		return 0;
	if (!fork())
		call_and_end();
	if (!fork())
		become_leaf();
	if (!vfork())
		become_leaf();
	if (!fork()) { /* whose parent ends before it */
		if (!fork()) {
			setsid();
			usleep(1000);
			call_and_end();
		}
		_exit(0);
	}
	if (!fork()) /* a thread takes the place of the first one */
		in_thread(leaf_thread);
	if (!fork()) { /* a thread forks, behind the end of the first one */
		in_thread(forking_thread);
		_exit(0);
	}
	if (!syscall(SYS_clone, SIGCHLD | CLONE_PARENT, NULL, NULL, NULL, NULL)) /* a sibling */
		call_and_end();
	if (!fork()) { /* a thread of a descendant */
		in_thread(thread);
		_exit(0);
	}
	/* Until the last of them has closed its end. */
	close(ends[1]);
	while (read(ends[0], &byte, 1) < 0)
		;
	close(ends[0]);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return 8UL * (unsigned long)number;
}

/* library_function(), of the library that is linked. */
static unsigned long linked(void)
{
	for (int i = 0; i < number; i++)
		library_function();
	return 0;
}

/* library_function(), of LIBRARY, which is mapped only meanwhile. */
static unsigned long loaded(void)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	void (*function)(void);

	if (!handle)
		return 1;
	*(void **)&function = dlsym(handle, "library_function");
	for (int i = 0; i < number; i++)
		function();
	dlclose(handle);
	return 0;
}

static void load_and_call(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*function)(void);

	if (!handle)
		return;
	*(void **)&function = dlsym(handle, "call_in_library");
	function();
	dlclose(handle);
}

/* Two libraries in turn, one at the place of the other: each calls getppid() in a function. */
static unsigned long replaced(void)
{
	for (int i = 0; i < number; i++) {
		load_and_call(library);
		load_and_call(another);
	}
	return 0;
}

/* geometry::area(int), which calls counted() */
void area(void) __asm__("_ZN8geometry4areaEi");
void area(void)
{
	counted();
	work++;
}

static unsigned long mangled(void)
{
	for (int i = 0; i < number; i++)
		area();
	return 0;
}

/* A function of two names. */
void alias_one(void);
void alias_two(void) __attribute__((alias("alias_one")));
void alias_one(void)
{
	work++;
}

static unsigned long aliases(void)
{
	for (int i = 0; i < number; i++) {
		alias_one();
		alias_two();
	}
	return 0;
}

/* A function that is chosen when the program is linked. */
void indirect(void) __attribute__((ifunc("choose")));

__attribute__((used)) static void (*choose(void))(void)
{
	return counted;
}

static unsigned long ifunc(void)
{
	for (int i = 0; i < number; i++)
		indirect();
	return 0;
}

/*
 * A function that begins with a vector instruction whose opcode is that of push: Linux
 * carries out such a one as a push where it has a breakpoint, and this never returns.
 */
#ifdef __x86_64__
unsigned long vector_first(void);
__asm__(".text\n"
	".globl vector_first\n"
	".type vector_first, @function\n"
	"vector_first:\n"
	"	vxorps %xmm0, %xmm0, %xmm0\n"
	"	mov $1, %eax\n"
	"	ret\n"
	".size vector_first, . - vector_first\n");
#else
unsigned long vector_first(void);
__attribute__((noinline)) unsigned long vector_first(void)
{
	return 1;
}
#endif

unsigned long vector_caller(void);
__attribute__((noinline)) unsigned long vector_caller(void)
{
#ifdef __x86_64__
	if (!__builtin_cpu_supports("avx"))
		return 1;
#endif
	return vector_first();
}

static unsigned long vector(void)
{
	unsigned long sum = 0;

	for (int i = 0; i < number; i++)
		sum += vector_caller();
	return sum;
}

/*
 * Eight threads; each reaches meet() and getppid() through functions of its own: thread N through
 * chainN, 3 N + 3 times. No stack has functions of two threads.
 */
__attribute__((noinline)) static void meet(void)
{
	work++;
}

static __thread int meetings;

#define CHAIN(n)                                                                                   \
	__attribute__((noinline)) static void chain##n(int depth)                                  \
	{                                                                                          \
		if (depth > 0) {                                                                   \
			chain##n(depth - 1);                                                       \
			return;                                                                    \
		}                                                                                  \
		meet();                                                                            \
		system_call();                                                                     \
	}                                                                                          \
	static void *thread##n(void *unused)                                                       \
	{                                                                                          \
		for (meetings = 0; meetings < number; meetings++)                                  \
			chain##n(n * 3 + 2);                                                       \
		return unused;                                                                     \
	}

static void system_call(void)
{
	call_getppid();
}

CHAIN(0)
CHAIN(1)
CHAIN(2)
CHAIN(3)
CHAIN(4)
CHAIN(5)
CHAIN(6)
CHAIN(7)

static unsigned long chains(void)
{
	static void *(*const bodies[])(void *) = {thread0, thread1, thread2, thread3,
						  thread4, thread5, thread6, thread7};
	pthread_t ids[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&ids[i], NULL, bodies[i], NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

USDT_SEMAPHORE(watched_semaphore);

static void fire_watched(void)
{
	USDT_PROBE("tracekit_test", "watched", "watched_semaphore");
}

/* "plain" fires NUMBER times, and "watched" if somebody watches; the number is its semaphore. */
static unsigned long usdt(void)
{
	for (int i = 0; i < number; i++) {
		USDT_PROBE("tracekit_test", "plain", "0");
		if (watched_semaphore)
			fire_watched();
	}
	return watched_semaphore;
}

static unsigned long getppids(void)
{
	for (int i = 0; i < number; i++)
		call_getppid();
	return 0;
}

/* Waits for a moment, each with a timer. */
static unsigned long waits(void)
{
	const struct timespec moment = {.tv_nsec = 1000};
	unsigned int word = 0;

	for (int i = 0; i < number; i++)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &moment, NULL, 0);
	return 0;
}

/* Each of the 64 paths of 6 turns leads to counted(), as fast as two threads can. */
static volatile bool stop;

static void left(unsigned int path, int turns);
static void right(unsigned int path, int turns);

static void turn(unsigned int path, int turns)
{
	if (!turns)
		counted();
	else if (path & 1)
		left(path >> 1, turns - 1);
	else
		right(path >> 1, turns - 1);
	work++;
}

static void left(unsigned int path, int turns)
{
	turn(path, turns);
	work++;
}

static void right(unsigned int path, int turns)
{
	turn(path, turns);
	work++;
}

static void *runner(void *argument)
{
	unsigned long *calls = argument;

	for (*calls = 0; !stop; ++*calls)
		turn((unsigned int)*calls, 6);
	return NULL;
}

/* Begins at the first signal and ends at the second: the number is the count of all calls. */
static unsigned long fast(void)
{
	static unsigned long calls[2];
	static pthread_t ids[2];
	static bool running;

	for (int i = 0; i < 2 && !running; i++)
		pthread_create(&ids[i], NULL, runner, &calls[i]);
	if (!running) {
		running = true;
		return 0;
	}
	stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(ids[i], NULL);
	return calls[0] + calls[1];
}

static const struct mode {
	const char *name;
	unsigned long (*make_calls)(void);
} modes[] = {
	{"names", names},	{"recursion", recursion}, {"threads", threads},
	{"children", children}, {"linked", linked},	  {"loaded", loaded},
	{"replaced", replaced}, {"mangled", mangled},	  {"aliases", aliases},
	{"ifunc", ifunc},	{"usdt", usdt},		  {"getppids", getppids},
	{"fast", fast},		{"waits", waits},	  {"exit", names},
	{"exec", names},	{"vector", vector},	  {"chains", chains},
	{"family", family},
};

static const struct mode *find_mode(const char *name)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(modes[i].name, name))
			return &modes[i];
	fprintf(stderr, "calls: no such mode: %s\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	const struct mode *mode;
	int got;
	sigset_t set;

	if (argc > 2 && !strcmp(argv[1], "run")) {
		number = atoi(argc > 3 ? argv[3] : "10");
		find_mode(argv[2])->make_calls();
		return 0;
	}
	number = argc > 2 ? atoi(argv[2]) : 10;
	if (argc > 1 && !strcmp(argv[1], "leaf"))
		call_and_end();
	mode = find_mode(argc > 1 ? argv[1] : "");
	library = argc > 3 ? argv[3] : NULL;
	another = argc > 4 ? argv[4] : NULL;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	dprintf(STDOUT_FILENO, "ready\n");
	while (!sigwait(&set, &got)) {
		dprintf(STDOUT_FILENO, "done %lu\n", mode->make_calls());
		if (!strcmp(mode->name, "exit"))
			return 0;
		if (!strcmp(mode->name, "exec"))
			execl("/proc/self/exe", argv[0], "names", argv[2], (char *)NULL);
	}
	return 1;
}
