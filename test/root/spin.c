// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs whose stacks are known, for the root tests: spin MODE [ARGUMENT].
 *
 * Compiled with frame pointers and not optimised, so that each call is a frame. Each mode runs
 * until a signal, as nice as any program: a test on one CPU may itself be less so.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../system_call.h"
#include "machine_code.h"

static volatile uint64_t work;
static volatile int stop; /* never set: so that the compiler expects calls to return */

static void spin_leaf(void)
{
	while (!stop)
		work++;
}

/* main > outer > middle > spin_leaf */
static void middle(void)
{
	spin_leaf();
	work++;
}

static void outer(void)
{
	middle();
	work++;
}

/* main > deep (depth times) > spin_leaf */
static void deep(int depth)
{
	if (depth > 0)
		deep(depth - 1);
	else
		spin_leaf();
	work++;
}

/* Each path of 12 turns is a stack of its own: 4,096 of them, one after the other. */
static void left(unsigned int path, int turns);
static void right(unsigned int path, int turns);

static void turn(unsigned int path, int turns)
{
	if (turns == 0)
		for (int i = 0; i < 20000; i++)
			work++;
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

static void paths(void)
{
	for (unsigned int path = 0; !stop; path++)
		turn(path, 12);
}

/* nr executable mappings of its own program, no two of which can be merged. */
static void mappings(int nr)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < nr; i++)
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			break;
	spin_leaf();
	work++;
}

static void syscalls(void)
{
	while (!stop)
		call_getppid();
}

/*
 * func_a and func_b, in turn: func_b twice as long as func_a. Both take so little time that no
 * timer can keep pace with them, and each step needs the result of the one before, in a register:
 * what processors make of memory that is written again and again differs from call to call.
 */
#define TAKE_STEPS(nr)                                                                             \
	do {                                                                                       \
		register uint64_t x = 88172645463325252;                                           \
                                                                                                   \
		for (register int i = 0; i < (nr); i++) {                                          \
			x ^= x << 13;                                                              \
			x ^= x >> 7;                                                               \
			x ^= x << 17;                                                              \
		}                                                                                  \
		work += x != 0;                                                                    \
	} while (0)

static void func_a(void)
{
	TAKE_STEPS(70);
}

static void func_b(void)
{
	TAKE_STEPS(140);
}

static void func_ab(void)
{
	while (!stop) {
		func_a();
		func_b();
	}
}

/* main > app::Shape<int>::area(long) > geometry::side > spin_leaf, named as compilers do. */
void rust_function(void) __asm__("_RNvCs1234_8geometry4side");
void cplusplus_function(void) __asm__("_ZN3app5ShapeIiE4areaEl");
void rust_function(void)
{
	spin_leaf();
	work++;
}

void cplusplus_function(void)
{
	rust_function();
	work++;
}

/* Nothing but reading the clock, which the vDSO does without a system call. */
static void vdso(void)
{
	struct timespec now;

	while (!stop)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

static void *thread(void *argument)
{
	spin_leaf();
	return argument;
}

/* Two threads below thread(), whose first has ended. */
static void threads(void)
{
	pthread_t one, two;

	pthread_create(&one, NULL, thread, NULL);
	pthread_create(&two, NULL, thread, NULL);
	pthread_exit(NULL);
}

/* The second thread ends at SIGUSR1, the first goes on. */
static volatile sig_atomic_t end_brief;

static void on_usr1(int number)
{
	end_brief = number;
}

static void *brief(void *argument)
{
	struct timespec now;

	while (!end_brief)
		clock_gettime(CLOCK_MONOTONIC, &now);
	return argument;
}

static void brief_thread(void)
{
	pthread_t one;

	signal(SIGUSR1, on_usr1);
	pthread_create(&one, NULL, brief, NULL);
	spin_leaf();
	work++;
}

/* A page of generated code, which begins at its byte 64; its address is printed. */
static void (*generate(const code_unit *code, size_t size))(void)
{
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		exit(1);
	put_code(page + 64, code, size);
	printf("%lx\n", (unsigned long)(uintptr_t)page);
	fflush(stdout);
	return (void (*)(void))(uintptr_t)(page + 64);
}

static void jit(void)
{
	generate(code_spin, sizeof(code_spin))();
}

static void jit_calls(void)
{
	void (*function)(void) = generate(code_getppid, sizeof(code_getppid));

	for (;;) {
		function();
		usleep(10000);
	}
}

/*
 * The call is the last instruction of calls_at_its_end: its return address is
 * the first byte of behind_it.
 */
void never_returns(void);
void calls_at_its_end(void);
void behind_it(void);
#if defined(__x86_64__)
#define BEGIN_FRAME "	push %rbp; mov %rsp, %rbp\n"
#define SPIN	    "1:	pause; jmp 1b\n"
#define CALL	    "	call "
#else
#define BEGIN_FRAME "	stp x29, x30, [sp, #-16]!; mov x29, sp\n"
#define SPIN	    "1:	yield; b 1b\n"
#define CALL	    "	bl "
#endif
__asm__(".text\n"
	".type never_returns, %function\n"
	"never_returns:\n" BEGIN_FRAME SPIN ".size never_returns, . - never_returns\n"
	".globl calls_at_its_end\n"
	".type calls_at_its_end, %function\n"
	"calls_at_its_end:\n" BEGIN_FRAME CALL "never_returns\n"
	".size calls_at_its_end, . - calls_at_its_end\n"
	".globl behind_it\n"
	".type behind_it, %function\n"
	"behind_it:\n"
	"	ret\n"
	".size behind_it, . - behind_it\n");

/* never_returns, in a mapping of a file that is a copy of this program. */
static void mapped(const char *path)
{
	extern const char __executable_start[];
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t offset = (size_t)((uintptr_t)never_returns - (uintptr_t)__executable_start);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *code = mmap(NULL, 2 * page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			  (off_t)(offset / page * page));

	if (code != MAP_FAILED)
		((void (*)(void))(uintptr_t)(code + offset % page))();
}

/*
 * A chain of frame pointers whose return addresses are not addresses of user space: one of the
 * kernel, the values of tracekit's markers, and one more, in turn from the first on. The chain lies
 * on the stack, where walks look for it.
 */
static void forged(unsigned int first)
{
	static const uint64_t addresses[] = {0xffffffff81000123, 0x0200000100000005,
					     0x4141414141414141};
	struct frame {
		const struct frame *next;
		uint64_t return_address;
	} chain[3];

	for (unsigned int i = 0; i < 3; i++)
		chain[i] = (struct frame){i < 2 ? &chain[i + 1] : NULL, addresses[(first + i) % 3]};
#if defined(__x86_64__)
	__asm__ volatile("mov %0, %%rbp\n" SPIN : : "r"(&chain[0]) : "memory");
#else
	__asm__ volatile("mov x29, %0\n" SPIN : : "r"(&chain[0]) : "memory");
#endif
}

/* Changes a BPF map as fast as it can. Without BPF it ends. */
static void update_map(void)
{
	union bpf_attr create = {
		.map_type = BPF_MAP_TYPE_HASH, .key_size = 8, .value_size = 8, .max_entries = 64};
	int fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &create, sizeof(create));

	for (uint64_t key = 0; fd >= 0; key = (key + 1) % 64) {
		union bpf_attr update = {
			.map_fd = (uint32_t)fd, .key = (uintptr_t)&key, .value = (uintptr_t)&key};

		syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &update, sizeof(update));
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	setpriority(PRIO_PROCESS, 0, 0);
	if (!strcmp(mode, "names"))
		outer();
	else if (!strcmp(mode, "deep"))
		deep(argc > 2 ? atoi(argv[2]) : 200);
	else if (!strcmp(mode, "paths"))
		paths();
	else if (!strcmp(mode, "syscalls"))
		syscalls();
	else if (!strcmp(mode, "mappings"))
		mappings(argc > 2 ? atoi(argv[2]) : 1000);
	else if (!strcmp(mode, "threads"))
		threads();
	else if (!strcmp(mode, "brief-thread"))
		brief_thread();
	else if (!strcmp(mode, "func_ab"))
		func_ab();
	else if (!strcmp(mode, "mangled"))
		cplusplus_function();
	else if (!strcmp(mode, "map-updates"))
		update_map();
	else if (!strcmp(mode, "vdso"))
		vdso();
	else if (!strcmp(mode, "jit"))
		jit();
	else if (!strcmp(mode, "jit-calls"))
		jit_calls();
	else if (!strcmp(mode, "mapped") && argc > 2)
		mapped(argv[2]);
	else if (!strcmp(mode, "last-call"))
		calls_at_its_end();
	else if (!strcmp(mode, "forged"))
		forged(argc > 2 ? (unsigned int)atoi(argv[2]) : 0);
	else if (!strcmp(mode, "hostile-comm") && !prctl(PR_SET_NAME, "\033[2J;a\nb\177c"))
		spin_leaf();
	fprintf(stderr, "spin: no such mode: %s\n", mode);
	return 2;
}
