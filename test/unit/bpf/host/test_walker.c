// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The walk of bpf/unwind.bpf.h in user space: over the stack of this program itself, beside
 * _Unwind_Backtrace() of libgcc; and over memory that makes no sense.
 */
#include "bpf/host/walker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "core/unwind/host_tables.h"
#include "sym/cfi/reader.h"
#include "sym/child/reader_child.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

#define MODULES_MAX 64

/* ---- tables of this program ---- */

static struct {
	struct walker_mapping mappings[MODULES_MAX];
	size_t nr;
	struct host_tables tables;
} own;

static int identify(int fd, struct mapped_file *file)
{
	(void)fd;
	*file = (struct mapped_file){.inode = 1};
	return 0;
}

static void read_own(void)
{
	const struct unwind_identifier identifier = {.identify = identify, .fds = {2, 2}};
	const struct unwind_keeper nobody = {0};
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;
	struct avoided_devices avoided = {0};
	int nr = unwind_reader__mappings(getpid(), &avoided, &identifier, &nobody, &mapped);

	CHECK(nr > 0);
	for (int i = 0; i < nr && own.nr < MODULES_MAX; i++) {
		if (mapped[i].source != UNWIND_SOURCE_FILE &&
		    mapped[i].source != UNWIND_SOURCE_VDSO)
			continue;
		CHECK_INT(host_tables__load(&own.tables, getpid(), &mapped[i], &avoided), own.nr);
		own.mappings[own.nr] = (struct walker_mapping){.start = mapped[i].start,
							       .end = mapped[i].end,
							       .offset = mapped[i].offset,
							       .module = (uint32_t)own.nr,
							       .executable = true};
		own.nr++;
	}
}

/* As the kernel reads: what is not mapped is no fault. */
static bool own_memory(void *context, uint64_t address, void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)address, size};

	(void)context;
	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static struct walker own_walker(void)
{
	struct walker walker = {.read = own_memory,
				.mappings = own.mappings,
				.nr_mappings = own.nr,
				.max_depth = MAX_FRAMES};

	host_tables__use(&own.tables, &walker);
	return walker;
}

/* ---- two walks from one place ---- */

struct traced {
	uint64_t frames[STACK_SLOTS];
	uint32_t nr;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *argument)
{
	struct traced *traced = argument;

	if (traced->nr < STACK_SLOTS)
		traced->frames[traced->nr++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static uint64_t address_of(uint64_t frame)
{
	uint64_t plain = frame_plain(frame);
	const struct walker_mapping *mapping;

	if (frame_tag(plain) != FRAME_MODULE)
		return plain;
	mapping = &own.mappings[frame_module(plain)];
	return mapping->start - mapping->offset + frame_offset(plain);
}

static struct walker_start start_at(const ucontext_t *context)
{
	walker_regs regs = {0};
#ifdef __x86_64__
	const greg_t *from = context->uc_mcontext.gregs;

	regs = (walker_regs){.rip = (unsigned long)from[REG_RIP],
			     .rsp = (unsigned long)from[REG_RSP],
			     .rbp = (unsigned long)from[REG_RBP],
			     .rbx = (unsigned long)from[REG_RBX],
			     .r12 = (unsigned long)from[REG_R12],
			     .r13 = (unsigned long)from[REG_R13],
			     .r14 = (unsigned long)from[REG_R14],
			     .r15 = (unsigned long)from[REG_R15],
			     .cs = 0x33,
			     .orig_rax = (unsigned long)-1};
#else
	memcpy(regs.regs, context->uc_mcontext.regs, sizeof(regs.regs));
	regs.sp = context->uc_mcontext.sp;
	regs.pc = context->uc_mcontext.pc;
#endif
	return walker__start(&regs);
}

/* The callers of the first frame are the same; libgcc may end with a frame of address 0. */
static void check_same(const uint64_t *frames, uint32_t nr, const struct traced *traced)
{
	uint32_t same = 1;

	while (same < nr && same < traced->nr && address_of(frames[same]) == traced->frames[same])
		same++;
	tap_check(same == nr && traced->nr - nr <= 1, __FILE__, __LINE__,
		  "%u of %u frames are as of libgcc, which has %u", same, nr, traced->nr);
}

/* Both walks begin in this function, each at a call of its own. */
static __attribute__((noinline)) void compare_walks(void)
{
	const struct walker walker = own_walker();
	struct traced traced = {.nr = 0};
	uint64_t frames[STACK_SLOTS];
	struct walker_start start;
	ucontext_t context;
	uint32_t nr;

	getcontext(&context);
	start = start_at(&context);
	_Unwind_Backtrace(add_frame, &traced);
	CHECK_INT(walker__walk(&walker, &start, frames, &nr), UNWIND_COMPLETE);
	check_same(frames, nr, &traced);
}

static __attribute__((noinline)) void go_down(int depth)
{
	if (depth)
		go_down(depth - 1);
	else
		compare_walks();
	__asm__ volatile("");
}

static void calls(void)
{
	go_down(0);
	go_down(100);
}

static int compare_items(const void *a, const void *b)
{
	static bool done;

	if (!done)
		compare_walks();
	done = true;
	return *(const int *)a - *(const int *)b;
}

static void through_the_library(void)
{
	int items[] = {3, 1, 2};

	qsort(items, ARRAY_SIZE(items), sizeof(items[0]), compare_items);
}

static void on_signal(int number)
{
	(void)number;
	compare_walks();
}

static void through_a_signal(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_size = 256 * 1024};

	stack.ss_sp = malloc(stack.ss_size);
	CHECK(stack.ss_sp && !sigaltstack(&stack, NULL));
	CHECK(!sigaction(SIGUSR1, &action, NULL) && !raise(SIGUSR1));
	stack.ss_flags = SS_DISABLE;
	CHECK(!sigaltstack(&stack, NULL));
	free(stack.ss_sp);
}

/* ---- what makes no sense ---- */

static bool no_memory(void *context, uint64_t address, void *to, size_t size)
{
	(void)context, (void)address, (void)to, (void)size;
	return false;
}

static void registers_that_lead_nowhere(void)
{
	struct walker walker = own_walker();
	uint64_t frames[STACK_SLOTS];
	struct walker_start start;
	ucontext_t context;
	uint32_t nr;

	getcontext(&context);
	start = start_at(&context);
	walker.read = no_memory;
	CHECK_INT(walker__walk(&walker, &start, frames, &nr), UNWIND_UNREADABLE);
	CHECK_INT(nr, 2);
	CHECK_INT(frames[1], frame_mark(MARK_STOPPED, UNWIND_UNREADABLE));
	walker.read = own_memory;
	walker.nr_modules = 0;
	CHECK(walker__walk(&walker, &start, frames, &nr) != UNWIND_COMPLETE);
	walker.nr_mappings = 0;
	CHECK_INT(walker__walk(&walker, &start, frames, &nr), UNWIND_GOES_ON);
	CHECK_INT(nr, 0);
}

static void depth(void)
{
	struct walker walker = own_walker();
	uint64_t frames[STACK_SLOTS];
	struct walker_start start;
	ucontext_t context;
	uint32_t nr;

	getcontext(&context);
	start = start_at(&context);
	walker.max_depth = 2;
	CHECK_INT(walker__walk(&walker, &start, frames, &nr), UNWIND_CUT);
	CHECK_INT(nr, 3);
	CHECK_INT(frames[2], frame_mark(MARK_CUT, 2));
}

/* ---- step by step ---- */

struct steps {
	size_t nr, nr_by_rule;
	uint64_t frames[STACK_SLOTS];
	enum unwind_end end;
};

static void take_step(void *context, const struct walker_step *step)
{
	struct steps *steps = context;

	steps->nr_by_rule += step->way == WALKER_BY_RULE && step->rule;
	steps->frames[steps->nr++] = step->frame;
	steps->end = step->end;
}

static void step_by_step(void)
{
	struct walker walker = own_walker();
	struct steps steps = {.nr = 0};
	uint64_t frames[STACK_SLOTS];
	struct walker_start start;
	ucontext_t context;
	uint32_t nr;

	getcontext(&context);
	start = start_at(&context);
	CHECK_INT(walker__walk(&walker, &start, frames, &nr), UNWIND_COMPLETE);
	walker.take_step = take_step;
	walker.context = &steps;
	CHECK_INT(walker__walk(&walker, &start, frames, &nr), UNWIND_COMPLETE);
	CHECK_INT(steps.end, UNWIND_COMPLETE);
	CHECK_INT(steps.nr, nr);
	CHECK_INT(steps.nr_by_rule, nr);
	CHECK(!memcmp(steps.frames, frames, nr * sizeof(frames[0])));
}

/* ---- where tables are missing ---- */

#define CODE	   0x400000ULL
#define STACK	   0x7ffc00000000ULL
#define NR_WORDS   512
#define AT(number) (STACK + (number) * sizeof(uint64_t))

static uint64_t words[NR_WORDS];

static bool read_words(void *context, uint64_t address, void *to, size_t size)
{
	(void)context;
	if (address < STACK || address - STACK > sizeof(words) ||
	    size > sizeof(words) - (address - STACK))
		return false;
	memcpy(to, (const char *)words + (address - STACK), size);
	return true;
}

/* Two frames are linked up the stack; the second leads down again. */
static void only_up_the_stack(void)
{
	const struct unwind_module module = {.state = UNWIND_MODULE_WANTED};
	const struct walker_mapping mappings[] = {
		{.start = CODE, .end = CODE + 4096, .module = 0, .executable = true},
		{.start = STACK, .end = STACK + sizeof(words), .module = UNWIND_NO_MODULE},
	};
	struct walker walker = {.modules = &module,
				.nr_modules = 1,
				.read = read_words,
				.mappings = mappings,
				.nr_mappings = ARRAY_SIZE(mappings),
				.max_depth = MAX_FRAMES,
				.frame_pointers = true};
	struct walker_start start = {.pc = CODE + 1, .exact = true};
	uint64_t frames[STACK_SLOTS];
	uint32_t nr;

#ifdef __x86_64__
	start.registers[6] = AT(2);
	start.registers[7] = AT(0);
#else
	start.registers[29] = AT(2);
	start.registers[31] = AT(0);
#endif
	words[2] = AT(6);
	words[3] = CODE + 2;
	words[6] = AT(1);
	words[7] = CODE + 3;
	words[1] = AT(20);
	CHECK_INT(walker__walk(&walker, &start, frames, &nr), UNWIND_TABLES_MISSING);
	CHECK_INT(nr, 4);
	CHECK_INT(frames[0], frame_in_module(0, 1));
	CHECK_INT(frames[1], frame_in_module(0, 2));
	CHECK_INT(frames[2], frame_in_module(0, 3));
	CHECK_INT(frames[3], frame_mark(MARK_STOPPED, UNWIND_TABLES_MISSING));
	walker.frame_pointers = false;
	CHECK_INT(walker__walk(&walker, &start, frames, &nr), UNWIND_TABLES_MISSING);
	CHECK_INT(nr, 2);
}

static const struct tap_test tests[] = {
	{"calls, a few and many", calls},
	{"a function that the C library calls", through_the_library},
	{"a signal handler on a stack of its own", through_a_signal},
	{"memory, tables and mappings that are not there", registers_that_lead_nowhere},
	{"no more frames than are wanted", depth},
	{"step by step", step_by_step},
	{"frame pointers where tables are missing, only up the stack", only_up_the_stack},
};

int main(void)
{
	int status;

	read_own();
	status = TAP_RUN(tests);
	host_tables__release(&own.tables);
	return status;
}
