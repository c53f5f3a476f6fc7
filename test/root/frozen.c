// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * frozen PID COUNT [FREQUENCY]: is a user stack that a program walks by tables the one that
 * libdwfl finds? A sample stops the process, whose thread is then where it was sampled; libdwfl
 * walks its stack from outside, by other code from the same files; and the process goes on.
 *
 * Differences, and the first that were elsewhere, are printed with both stacks. The last line is
 *
 *   200 stacks: 198 identical, 1 not complete (1 no call-frame information), 1 skipped, 0 different
 *
 * Exit status 1 if any differ, if less than 99.5 % of those not skipped are complete, but for one,
 * or if more than half of those that the kernel has not walked are not identical; 77 if there can
 * be no samples here.
 *
 * Another sample is taken where the thread went on before the signal came, so that it was elsewhere
 * by then: where another tracer has a breakpoint the kernel holds signals back.
 *
 * Samples that say nothing about the walk are skipped:
 * - Before 5.15 the kernel does not tell the user registers of a thread in the kernel: it has
 *   walked the stack itself, by frame pointers.
 * - libdwfl has ended with an error, earlier than the walk. It reads neither .debug_frame of
 *   files of debug data, which it is not given here, nor Go's own tables; and where there is no
 *   information it takes one step by the frame pointer, on x86-64 only.
 *
 * In Go programs libdwfl goes on where Go's tables say that a stack ends, mostly runtime.mcall()
 * and runtime.systemstack(), which have left another stack: such samples are different.
 *
 * Neither gets out of code that was made at run time and keeps no frame pointer, as PostgreSQL's:
 * such a stack is not complete, and the frames before that code are compared. Neither gets out of
 * libgcc where it has put its next return address into its frame, behind a frame of the old one.
 */
#include "test/root/frozen.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "core/options/trace_options.h"
#include "core/trace/sampler.h"
#include "core/trace/session.h"
#include "core/unwind/unwinding.h"
#include "frozen.skel.h"
#include "sym/process/process.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"
#include "sym/util/number.h"
#include "sym/util/page.h"
#include "test/root/walked_stack.h"

/* A thread that stays asleep so long is not sampled. */
#define PATIENCE (20 * NANOSECONDS)

/* Stacks left out at the start because their tables are still being loaded. */
#define WARM_UP_MAX 2000

/* Samples that did not stop the process. */
#define REFUSED_MAX 100

/* Threads that went on, and how many of them are printed. */
#define WENT_ON_MAX   2000
#define WENT_ON_SHOWN 3

#define REFERENCE_MAX (STACK_SLOTS + 64)

/* The frames that libdwfl has found; more than a walk can have are left out. */
struct reference {
	uint32_t nr;
	uint64_t frames[REFERENCE_MAX];
	const char *error; /* or NULL */
};

struct frozen {
	struct trace_options options;
	pid_t pid;
	struct session *session;
	struct frozen_bpf *skeleton;
	struct frozen_sample *sample; /* mapped: the program's own */
	struct sampler sampler;
	Dwfl *dwfl;
	struct process process; /* what it has mapped */
	uint64_t identical, different;
	uint64_t incomplete[NR_UNWIND_ENDS];
	uint64_t refused; /* signals */
	uint64_t went_on;
	uint64_t by_kernel, ended_early; /* skipped */
};

static void frozen__release(struct frozen *frozen)
{
	sampler__close(&frozen->sampler);
	frozen_bpf__destroy(frozen->skeleton);
	session__close(frozen->session);
	if (frozen->dwfl)
		dwfl_end(frozen->dwfl);
	process__release(&frozen->process);
	/* It must not stay stopped, whatever has happened. */
	kill(frozen->pid, SIGCONT);
}

/* ---- libdwfl ---- */

/* Debug data is not looked for: neither on disk nor on servers. */
static int
no_debug_data(Dwfl_Module *module __attribute__((unused)), void **user __attribute__((unused)),
	      const char *name __attribute__((unused)), Dwarf_Addr base __attribute__((unused)),
	      const char *file __attribute__((unused)), const char *link __attribute__((unused)),
	      GElf_Word checksum __attribute__((unused)), char **found __attribute__((unused)))
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = no_debug_data,
};

/* Modules that are still mapped where they were are kept, with what has been read of them. */
static bool report_modules(struct frozen *frozen)
{
	bool first = !frozen->dwfl;

	if (first)
		frozen->dwfl = dwfl_begin(&callbacks);
	if (!frozen->dwfl)
		return false;
	if (!first)
		dwfl_report_begin(frozen->dwfl);
	if (dwfl_linux_proc_report(frozen->dwfl, frozen->pid) ||
	    dwfl_report_end(frozen->dwfl, NULL, NULL))
		return false;
	/* Threads are stopped by us. */
	return !first || !dwfl_linux_proc_attach(frozen->dwfl, frozen->pid, true);
}

static int add_frame(Dwfl_Frame *frame, void *argument)
{
	struct reference *reference = argument;
	Dwarf_Addr pc;

	if (reference->nr == REFERENCE_MAX || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	/* As the walk has it: values that are no addresses of user space become 0. */
	reference->frames[reference->nr++] = frame_tag(pc) == FRAME_USER ? pc : 0;
	return DWARF_CB_OK;
}

/* Find the frames of a thread that ptrace holds. */
static void find_reference(struct frozen *frozen, pid_t tid, struct reference *reference)
{
	reference->nr = 0;
	reference->error = NULL;
	if (!report_modules(frozen) ||
	    dwfl_getthread_frames(frozen->dwfl, tid, add_frame, reference) < 0)
		reference->error = dwfl_errmsg(-1);
}

/* ---- the process ---- */

static char thread_state(pid_t pid, pid_t tid)
{
	char path[64], line[512];
	CLEANUP_FCLOSE FILE *file = NULL;
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		return 0;
	/* Behind the name, which may have any character in it. */
	end = strrchr(line, ')');
	return end && end[1] ? end[2] : 0;
}

static void wait_a_moment(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

/* Other threads of the process do not matter: their stacks are elsewhere. */
static bool wait_until_stopped(pid_t pid, pid_t tid)
{
	uint64_t end = monotonic_now() + PATIENCE;
	char state;

	while ((state = thread_state(pid, tid)) && state != 'T' && monotonic_now() < end)
		wait_a_moment();
	return state == 'T';
}

/* A stopped thread then stops once more, for us, and executes nothing in between. */
static bool hold(pid_t tid)
{
	int status;

	return !ptrace(PTRACE_SEIZE, tid, NULL, NULL) &&
	       !ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) && waitpid(tid, &status, __WALL) == tid &&
	       WIFSTOPPED(status);
}

/* ---- comparing ---- */

/* Frames in files become addresses of the process, which is stopped; false if one cannot. */
static bool place_frames(struct frozen *frozen, struct frozen_sample *sample, uint32_t nr)
{
	process__release(&frozen->process);
	frozen->process = (struct process){0};
	return !process__read(&frozen->process, frozen->pid) &&
	       walked_stack__place(sample->frames, nr,
				   unwinding__modules(session__unwinding(frozen->session)),
				   &frozen->process.mappings);
}

/* The frames of a walk that stopped early must be right all the same. */
static bool is_identical(const struct frozen_sample *sample, const struct reference *reference,
			 uint32_t nr, enum unwind_end end)
{
	uint32_t common = nr < reference->nr ? nr : reference->nr;

	for (uint32_t i = 0; i < common; i++)
		if (sample->frames[i] != reference->frames[i])
			return false;
	return end == UNWIND_COMPLETE ? nr == reference->nr : nr <= reference->nr;
}

static void print_both(const char *what, enum unwind_end end, const struct frozen_sample *sample,
		       const struct reference *reference)
{
	uint32_t nr = sample->nr > reference->nr ? sample->nr : reference->nr;

	printf("%s: walked (%s), and by libdwfl (%s)\n", what, walked_stack__end_text(end),
	       reference->error ? reference->error : "complete");
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t walked = i < sample->nr ? sample->frames[i] : 0;
		uint64_t expected = i < reference->nr ? reference->frames[i] : 0;

		printf("%4" PRIu32 " %16" PRIx64 " %16" PRIx64 "%s\n", i, walked, expected,
		       walked == expected ? "" : " !");
	}
}

static void compare(struct frozen *frozen, struct frozen_sample *sample,
		    const struct reference *reference)
{
	uint32_t nr = sample->nr;
	enum unwind_end end = walked_stack__end(sample->frames, &nr);
	bool placed = place_frames(frozen, sample, nr);

	if (!placed) {
		/* A wrong place is no sign that the thread was elsewhere. */
		frozen->different++;
		print_both("in no file of the process", end, sample, reference);
	} else if (!sample->walked) {
		frozen->by_kernel++;
	} else if (reference->nr && sample->frames[0] != reference->frames[0]) {
		if (frozen->went_on++ < WENT_ON_SHOWN)
			print_both("went on", end, sample, reference);
	} else if (reference->error && reference->nr < nr &&
		   is_identical(sample, reference, reference->nr, end)) {
		frozen->ended_early++;
	} else if (!is_identical(sample, reference, nr, end)) {
		frozen->different++;
		print_both("different", end, sample, reference);
	} else if (end == UNWIND_COMPLETE) {
		frozen->identical++;
	} else {
		frozen->incomplete[end]++;
		print_both("not complete", end, sample, reference);
	}
}

/* ---- samples ---- */

/* False if there will be no more samples. */
static bool wait_for_sample(const struct frozen *frozen)
{
	const volatile struct frozen_sample *sample = frozen->sample;
	uint64_t end = monotonic_now() + PATIENCE;

	while (sample->taken != sample->wanted) {
		if (session__stopping(frozen->session) || kill(frozen->pid, 0) ||
		    monotonic_now() > end)
			return false;
		wait_a_moment();
	}
	return true;
}

static bool is_warming_up(const struct frozen_sample *sample)
{
	uint32_t nr = sample->nr;

	return !sample->walked || walked_stack__end(sample->frames, &nr) == UNWIND_TABLES_MISSING;
}

/* Take a sample of a running process, which then goes on. */
static bool take(struct frozen *frozen, uint64_t *warm_up)
{
	struct frozen_sample *sample = frozen->sample;
	struct reference reference;
	pid_t tid;

	*(volatile uint64_t *)&sample->wanted += 1;
	if (!wait_for_sample(frozen))
		return false;
	/* The kernel sends no signal while it changes from one address space to another. */
	if (sample->err && frozen->refused++ < REFUSED_MAX)
		return true;
	tid = (pid_t)sample->tid;
	if (sample->err || !wait_until_stopped(frozen->pid, tid) || !hold(tid)) {
		printf("thread %d has not been stopped: %s\n", tid, strerror(-sample->err));
		return false;
	}
	if (*warm_up && is_warming_up(sample)) {
		--*warm_up;
		/* The loader may want the only CPU. */
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	} else {
		*warm_up = 0;
		find_reference(frozen, tid, &reference);
		compare(frozen, sample, &reference);
	}
	return !ptrace(PTRACE_DETACH, tid, NULL, NULL) && !kill(frozen->pid, SIGCONT);
}

static uint64_t skipped(const struct frozen *frozen)
{
	return frozen->by_kernel + frozen->ended_early;
}

static uint64_t stacks(const struct frozen *frozen)
{
	return frozen->identical + frozen->different +
	       walked_stack__incomplete(frozen->incomplete) + skipped(frozen);
}

/* Most stacks that were walked by tables have to be compared, and nearly all to be complete. */
static bool is_good(const struct frozen *frozen)
{
	uint64_t walked = stacks(frozen) - frozen->by_kernel;

	return !frozen->different && frozen->identical && 2 * frozen->identical >= walked &&
	       frozen->went_on < WENT_ON_MAX &&
	       (walked_stack__incomplete(frozen->incomplete) == 1 ||
		1000 * frozen->identical >= 995 * (stacks(frozen) - skipped(frozen)));
}

static void print_sum(const struct frozen *frozen)
{
	printf("%" PRIu64 " stacks: %" PRIu64 " identical, ", stacks(frozen), frozen->identical);
	walked_stack__print_incomplete(frozen->incomplete);
	printf(", %" PRIu64 " skipped", skipped(frozen));
	if (skipped(frozen))
		printf(" (%" PRIu64 " walked by the kernel, %" PRIu64 " libdwfl ended earlier)",
		       frozen->by_kernel, frozen->ended_early);
	printf(", %" PRIu64 " different", frozen->different);
	if (frozen->went_on)
		printf("; %" PRIu64 " more went on", frozen->went_on);
	printf("\n");
}

/* The skeleton's own pointer is right only where the skeleton loads the object. */
static int map_sample(struct frozen *frozen, struct error *error)
{
	const struct bpf_map *map = frozen->skeleton->maps.bss;
	void *mapped =
		page_map(bpf_map__fd(map), bpf_map__value_size(map), PROT_READ | PROT_WRITE, 0);

	if (mapped == MAP_FAILED)
		return error__set(error, -errno, "cannot map the sample: %s", strerror(errno));
	frozen->sample = mapped;
	return 0;
}

static int run(struct frozen *frozen, uint64_t frequency, struct error *error)
{
	const struct sampler_settings settings = {.frequency = frequency, .cpu = SAMPLER_ALL_CPUS};
	struct trace_config *config;
	int err = session__open(&frozen->session, &frozen->options, error);

	if (err)
		return err;
	frozen->skeleton = frozen_bpf__open();
	if (!frozen->skeleton)
		return error__set(error, -errno, "cannot open the BPF program");
	config = (struct trace_config *)&frozen->skeleton->rodata->config;
	err = session__configure(frozen->session, frozen->skeleton->obj, config, error);
	if (!err)
		err = session__load(frozen->session, frozen->skeleton->obj, NULL, error);
	if (!err)
		err = map_sample(frozen, error);
	if (!err)
		err = sampler__open(&frozen->sampler, &settings, frozen->session,
				    bpf_program__fd(frozen->skeleton->progs.take_frozen_sample),
				    error);
	return err ? err : sampler__start(&frozen->sampler, error);
}

int main(int argc, char **argv)
{
	CLEANUP(frozen__release) struct frozen frozen = {.options = TRACE_OPTIONS_DEFAULTS};
	uint64_t count, warm_up = WARM_UP_MAX, frequency;
	struct error error;

	if (argc < 3 || argc > 4) {
		fputs("usage: frozen PID COUNT [FREQUENCY]\n", stderr);
		return 2;
	}
	frozen.pid = atoi(argv[1]);
	count = strtoull(argv[2], NULL, 10);
	frequency = argc > 3 ? strtoull(argv[3], NULL, 10) : 499;
	frozen.options.pids = (struct pid_list){.pids = &frozen.pid, .nr = 1};
	frozen.options.user_stacks_only = true;
	if (run(&frozen, frequency, &error)) {
		fprintf(stderr, "frozen: %s\n", error.text);
		return 77;
	}
	while (stacks(&frozen) < count && frozen.went_on < WENT_ON_MAX && take(&frozen, &warm_up))
		;
	print_sum(&frozen);
	return !is_good(&frozen);
}
