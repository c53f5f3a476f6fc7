// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs whose stacks are hard to walk: walked MODE [once]. Compiled without frame pointers, and
 * optimised, so that all of it hangs on call-frame information. Each mode runs until a signal; or
 * once, which stepped.c is told.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile uint64_t work;
static bool once;

static NOINLINE void spend(unsigned int turns)
{
	while (turns-- > 0)
		work++;
}

/* From our function through one of libc into one of ours. */
static NOINLINE int by_value(const void *a, const void *b)
{
	int one = *(const int *)a, other = *(const int *)b;

	spend(20);
	return (one > other) - (one < other);
}

static void callback(void)
{
	int values[256];

	for (size_t i = 0; i < 256; i++)
		values[i] = (int)(i * 2654435761U >> 8);
	qsort(values, 256, sizeof(*values), by_value);
}

static NOINLINE uint64_t recurse(unsigned int depth)
{
	uint64_t sum = work;

	if (depth == 0)
		spend(20000);
	else
		sum += recurse(depth - 1);
	return sum * 3 + work;
}

static void deep(void)
{
	work += recurse(300);
}

/* The frame is reached through another register than the stack pointer. */
static NOINLINE void realigned_by(size_t size)
{
	__attribute__((aligned(64))) volatile char aligned[64];
	volatile char *variable = __builtin_alloca(size);

	aligned[size % 64] = variable[size - 1] = (char)size;
	spend(500);
	work += (uint64_t)aligned[0];
}

static void realigned(void)
{
	for (size_t i = 1; i < 1000; i++)
		realigned_by(i);
}

static NOINLINE void on_signal(int number)
{
	(void)number;
	spend(5000);
}

/*
 * The signal interrupts anything, also the first instruction of a function. Its number is above
 * that of SIGSTOP, which then comes first when both are due.
 */
static void handler(void)
{
	static char stack[65536];
	const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
	const struct timespec often = {.tv_nsec = 200000};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
	timer_t timer;

	sigaltstack(&other, NULL);
	sigaction(SIGPROF, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &(struct itimerspec){often, often}, NULL))
		exit(1);
	for (;;)
		callback();
}

static void vdso(void)
{
	struct timespec now;

	for (int i = 0; i < 1000; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
	work += (uint64_t)now.tv_nsec;
}

/* Its child has the same stack, for a while. */
static void vforked(void)
{
	pid_t child = vfork();

	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	spend(5000);
}

/* Calls of functions so short that a part of the time goes into their stubs. */
static void stubs(void)
{
	volatile int number = -5;

	for (int i = 0; i < 1000; i++)
		work += (uint64_t)abs(number) + strlen((const char *)&number) + (uint64_t)getppid();
}

/* The callers' part of the stack cannot be read meanwhile. */
static NOINLINE void take_away(char *page, size_t size)
{
	if (mprotect(page, size, PROT_NONE))
		exit(1);
	spend(20000);
	if (mprotect(page, size, PROT_READ | PROT_WRITE))
		exit(1);
}

static void absent(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *frame = __builtin_frame_address(0);
	/* Functions called from here have their frames in other pages. */
	volatile char *room = __builtin_alloca(2 * size);

	room[0] = 0;
	take_away(frame - (uintptr_t)frame % size, size);
}

/*
 * Call function with that frame pointer, from code without call-frame information; and from code
 * with some, which says that its return address is 0, and its caller's frame pointer the same.
 */
void call_bare(const void *frame_pointer, void (*function)(void));
void call_ended(const void *frame_pointer, void (*function)(void));

#ifdef __x86_64__
__asm__(".text\n"
	".type call_bare, @function\n"
	"call_bare:\n"
	"	push %rbp\n"
	"	mov %rdi, %rbp\n"
	"	call *%rsi\n"
	"	pop %rbp\n"
	"	ret\n"
	".size call_bare, . - call_bare\n"
	".type call_ended, @function\n"
	"call_ended:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	push $0\n"
	"	push $0\n"
	"	.cfi_def_cfa_offset 32\n"
	"	.cfi_offset %rip, -32\n"
	"	mov %rdi, %rbp\n"
	"	call *%rsi\n"
	"	add $16, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size call_ended, . - call_ended\n");
#else
__asm__(".text\n"
	".type call_bare, %function\n"
	"call_bare:\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	mov x29, x0\n"
	"	blr x1\n"
	"	ldp x29, x30, [sp], #16\n"
	"	ret\n"
	".size call_bare, . - call_bare\n"
	".type call_ended, %function\n"
	"call_ended:\n"
	"	.cfi_startproc\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	stp xzr, xzr, [sp, #16]\n"
	"	.cfi_def_cfa_offset 32\n"
	"	.cfi_offset x30, -16\n"
	"	mov x29, x0\n"
	"	blr x1\n"
	"	ldp x29, x30, [sp], #32\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size call_ended, . - call_ended\n");
#endif

/*
 * Without call-frame information: leaf pushes nothing, and is called where the frame pointer is any
 * number; keeper keeps a frame pointer, and at its stack pointer, or in the register for return
 * addresses, is one of another call.
 */
void call_leaf(const void *frame_pointer);
void keeper(void);

#ifdef __x86_64__
__asm__(".text\n"
	".type keeper, @function\n"
	"keeper:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	sub $16, %rsp\n"
	"	movq $behind_call_of_leaf, (%rsp)\n"
	"	mov $0xf0000, %eax\n"
	"0:	dec %eax\n"
	"	jnz 0b\n"
	"	leave\n"
	"	ret\n"
	".size keeper, . - keeper\n"
	".type leaf, @function\n"
	"leaf:\n"
	"	mov $0xf0000, %eax\n"
	"0:	dec %eax\n"
	"	jnz 0b\n"
	"	ret\n"
	".size leaf, . - leaf\n"
	".type call_leaf, @function\n"
	"call_leaf:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbp, -16\n"
	"	mov %rdi, %rbp\n"
	"	call leaf\n"
	"behind_call_of_leaf:\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size call_leaf, . - call_leaf\n");
#else
__asm__(".text\n"
	".type keeper, %function\n"
	"keeper:\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	mov x29, sp\n"
	"	adr x30, behind_call_of_leaf\n"
	"	mov x0, #0xf0000\n"
	"0:	subs x0, x0, #1\n"
	"	b.ne 0b\n"
	"	ldp x29, x30, [sp], #16\n"
	"	ret\n"
	".size keeper, . - keeper\n"
	".type leaf, %function\n"
	"leaf:\n"
	"	mov x0, #0xf0000\n"
	"0:	subs x0, x0, #1\n"
	"	b.ne 0b\n"
	"	ret\n"
	".size leaf, . - leaf\n"
	".type call_leaf, %function\n"
	"call_leaf:\n"
	"	.cfi_startproc\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset x29, -16\n"
	"	.cfi_offset x30, -8\n"
	"	mov x29, x0\n"
	"	bl leaf\n"
	"behind_call_of_leaf:\n"
	"	ldp x29, x30, [sp], #16\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size call_leaf, . - call_leaf\n");
#endif

static void leaves(void)
{
	const void *frame[4] = {&frame[2], (const char *)deep + 1};

	__asm__ volatile("" : "+m"(frame));
	call_leaf(frame);
	keeper();
	work++;
}

/* The dynamic linker looks up what a library calls; and once more when it is loaded again. */
static NOINLINE void call_library(void *library)
{
	int (*call)(void);

	*(void **)&call = dlsym(library, once ? "call_some" : "call_all");
	if (!call)
		exit(1);
	work += (uint64_t)call();
}

static void lazy(void)
{
	void *library = dlopen("liblazy.so", RTLD_LAZY);

	if (!library)
		exit(1);
	call_library(library);
	dlclose(library);
}

/*
 * Functions to be given return probes, by others: one that calls itself, and one that calls another
 * in its own place.
 */
uint64_t returns_last(uint64_t n);
uint64_t returns_at_once(uint64_t n);
uint64_t returns_often(uint64_t n);

NOINLINE uint64_t returns_last(uint64_t n)
{
	spend(once ? 20 : 20000);
	return work + n;
}

NOINLINE uint64_t returns_at_once(uint64_t n)
{
	return returns_last(n + 1);
}

NOINLINE uint64_t returns_often(uint64_t n)
{
	uint64_t sum = work;

	sum += n ? returns_often(n - 1) : returns_at_once(n);
	return sum * 3 + work;
}

static void returns(void)
{
	work += returns_often(3);
}

static void *begin_thread(void *nothing)
{
	return nothing;
}

static NOINLINE void make_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, begin_thread, NULL))
		exit(1);
	pthread_join(thread, NULL);
	work++;
}

static void threads(void)
{
	make_thread();
	work++;
}

static NOINLINE void spawn(void)
{
	char *nothing[] = {NULL};
	pid_t child;

	if (posix_spawn(&child, "/nonexistent", NULL, NULL, nothing, nothing) != ENOENT)
		exit(1);
	work++;
}

static NOINLINE void whole(void)
{
	spend(5000);
	work++;
}

static NOINLINE void overwritten(void)
{
	spend(5000);
	work += 2;
}

static NOINLINE void two_zeros(void)
{
	spend(5000);
	work += 3;
}

/* The words at their frame pointers: the caller's frame pointer, and the return address. */
static const uint64_t outermost[] = {0, 0}, no_frame[] = {1, 0};

/* On the stack, as frames are; a frame's caller is code without call-frame information, too. */
static void bare(void)
{
	const void *linked[2][2] = {{linked[1], (const char *)call_bare + 1}};
	uint64_t frames[2][2];

	memcpy(linked[1], outermost, sizeof(outermost));
	memcpy(frames[0], outermost, sizeof(outermost));
	memcpy(frames[1], no_frame, sizeof(no_frame));
	call_bare(linked[0], whole);
	call_bare(frames[0], two_zeros);
	call_bare(frames[1], overwritten);
	work++;
}

static void ended(void)
{
	call_ended(NULL, whole);
	call_ended(no_frame, overwritten);
	work++;
}

/* A frame pointer that is not of the stack leads to what looks like frames without end. */
static void stale(void)
{
	static const void *frame[2];

	frame[0] = frame;
	frame[1] = (const char *)deep + 1;
	call_bare(frame, whole);
	work++;
}

static void pointerless(void)
{
	call_bare(NULL, whole);
	work++;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {
		{"callback", callback}, {"deep", deep},	      {"realigned", realigned},
		{"handler", handler},	{"vdso", vdso},	      {"vfork", vforked},
		{"stubs", stubs},	{"absent", absent},   {"bare", bare},
		{"ended", ended},	{"stale", stale},     {"pointerless", pointerless},
		{"leaves", leaves},	{"threads", threads}, {"lazy", lazy},
		{"returns", returns},	{"spawn", spawn},
	};

	once = argc > 2 && !strcmp(argv[2], "once");
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes) && argc > 1; i++)
		while (!strcmp(argv[1], modes[i].name)) {
			if (once)
				raise(SIGURG);
			modes[i].run();
			if (once)
				return 0;
		}
	fprintf(stderr, "walked: no such mode\n");
	return 2;
}
