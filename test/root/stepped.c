// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stepped PROGRAM [ARGUMENT...]: is a user stack that a program walks by tables right at each
 * instruction? PROGRAM is executed one instruction at a time, from where it sends itself a SIGURG
 * to its end. At each of them its first thread stops, and the kernel's program walks its stack,
 * while we know which calls have really been made: a call adds its return address, and a return
 * takes it away. Nothing of that is known from tables, but for the callers of the first place, of
 * which those that return show whether they were right.
 *
 * Walks that are wrong or not complete are printed, the first ones beside the calls. The last line
 * is
 *
 *   1000 places: 998 complete, 2 not complete (2 no call-frame information), 0 different
 *
 * Where a walk is not complete its frames must be the innermost ones all the same. Exit status 1 if
 * any differ, or if less than 99.9 % are complete; 77 if there can be no walks here.
 *
 * A ret that leads elsewhere is a jump, as in code that looks up functions. Where another tool has
 * return probes, a function returns to the kernel's trampoline, and is then taken to be where it
 * really returns. At times the kernel executes an instruction with a breakpoint and the next one in
 * one step: neither must be a call.
 */
#include "test/root/stepped.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/options/trace_options.h"
#include "core/trace/session.h"
#include "core/unwind/unwinding.h"
#include "stepped.skel.h"
#include "sym/process/process.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/page.h"
#include "test/root/walked_stack.h"

/* Calls that have not returned: more than walks can find. */
#define CALLS_MAX (2 * STACK_SLOTS)

/* Walks are taken so often until tables have come, every 10 ms. */
#define TRIES_MAX 500

#define DIFFERENT_SHOWN 5

#define INSTRUCTION_MAX 15

struct stepped {
	struct trace_options options;
	pid_t pid;
	struct session *session;
	struct stepped_bpf *skeleton;
	struct stepped_walk *last; /* mapped: the program's own */
	int attached;
	struct process process; /* what it has mapped, while that is known */
	bool knows_mappings;
	struct user_regs_struct regs;
	uint64_t calls[CALLS_MAX]; /* the return addresses */
	size_t nr_calls;
	uint64_t trampoline; /* if the thread is there: where it really returns to */
	uint64_t complete, different;
	uint64_t incomplete[NR_UNWIND_ENDS];
};

static void stepped__release(struct stepped *stepped)
{
	if (stepped->attached > 0)
		close(stepped->attached);
	stepped_bpf__destroy(stepped->skeleton);
	session__close(stepped->session);
	process__release(&stepped->process);
	if (stepped->pid > 0)
		kill(stepped->pid, SIGKILL);
}

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "stepped: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- the process ---- */

/* We stop it, and it stops itself, in turn: on one CPU nobody has to be woken elsewhere. */
static void stay_on_this_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
}

/* It waits to be told to become the program. */
static pid_t start(char **command)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("cannot fork");
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP))
			_exit(1);
		execv(command[0], command);
		_exit(1);
	}
	return pid;
}

/* Until it stops again; false if it has ended. *signal: by which it was stopped. */
static bool wait_for_stop(struct stepped *stepped, int *signal)
{
	int status;

	if (waitpid(stepped->pid, &status, 0) != stepped->pid)
		fail("cannot wait for the program");
	if (!WIFSTOPPED(status)) {
		stepped->pid = 0;
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			errno = ECHILD;
			fail("the program has failed");
		}
		return false;
	}
	*signal = WSTOPSIG(status);
	/* The kernel waits here until the thread has left its CPU, and its stack was walked. */
	if (ptrace(PTRACE_GETREGS, stepped->pid, NULL, &stepped->regs))
		fail("cannot read registers");
	return true;
}

/* Go on, by that request of ptrace, until it stops by that signal; false if it has ended. */
static bool go_on_until(struct stepped *stepped, enum __ptrace_request request, int wanted)
{
	int signal = 0;

	do {
		/* What comes between, as SIGCHLD, is passed on. */
		if (ptrace(request, stepped->pid, NULL,
			   (void *)(long)(signal == SIGTRAP ? 0 : signal)))
			fail("cannot go on");
		if (!wait_for_stop(stepped, &signal))
			return false;
	} while (signal != wanted);
	return true;
}

/* It stops once more, and executes nothing in between. */
static void stop_again(struct stepped *stepped)
{
	int signal;

	if (kill(stepped->pid, SIGURG) || ptrace(PTRACE_SINGLESTEP, stepped->pid, NULL, NULL) ||
	    !wait_for_stop(stepped, &signal) || signal != SIGURG)
		fail("cannot stop the program once more");
}

/* As many bytes as are there. */
static size_t read_memory(const struct stepped *stepped, uint64_t address, void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)address, size};
	ssize_t nr = process_vm_readv(stepped->pid, &local, 1, &remote, 1, 0);

	return nr > 0 ? (size_t)nr : 0;
}

static const struct mapping *find_mapping(struct stepped *stepped, uint64_t address)
{
	if (!stepped->knows_mappings) {
		process__release(&stepped->process);
		stepped->process = (struct process){0};
		if (process__read(&stepped->process, stepped->pid))
			fail("cannot read mappings");
		stepped->knows_mappings = true;
	}
	return mapping_list__find(&stepped->process.mappings, address);
}

/* ---- calls ---- */

enum instruction { OTHER, CALL, RETURN, SYSTEM_CALL };

/* Of 64-bit code: Intel's manual, volume 2, chapter 2 and appendix A. */
static enum instruction decode(const unsigned char *code, size_t size)
{
	size_t i = 0;

	while (i < size && (code[i] == 0xf2 || code[i] == 0xf3 || code[i] == 0x2e ||
			    code[i] == 0x3e || code[i] == 0x66 || code[i] == 0x67))
		i++;
	if (i < size && code[i] >> 4 == 4)
		i++;
	if (i + 2 > size)
		return i + 1 == size && code[i] == 0xc3 ? RETURN : OTHER;
	if (code[i] == 0xe8 || (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2))
		return CALL;
	if (code[i] == 0x0f && code[i + 1] == 0x05)
		return SYSTEM_CALL;
	return code[i] == 0xc3 || code[i] == 0xc2 ? RETURN : OTHER;
}

static enum instruction next_instruction(const struct stepped *stepped)
{
	unsigned char code[INSTRUCTION_MAX];

	return decode(code, read_memory(stepped, stepped->regs.rip, code, sizeof(code)));
}

static bool is_at_trampoline(struct stepped *stepped)
{
	const struct mapping *mapping = find_mapping(stepped, stepped->regs.rip);

	return mapping && !strcmp(mapping->path, "[uprobes]");
}

static void note_call(struct stepped *stepped)
{
	uint64_t *call = &stepped->calls[stepped->nr_calls++];

	if (stepped->nr_calls > CALLS_MAX ||
	    read_memory(stepped, stepped->regs.rsp, call, sizeof(*call)) != sizeof(*call))
		fail("cannot read a return address");
}

static void note_return(struct stepped *stepped)
{
	uint64_t call = stepped->nr_calls ? stepped->calls[stepped->nr_calls - 1] : 0;

	if (stepped->regs.rip != call) {
		/* The kernel has put it there meanwhile. */
		stepped->knows_mappings = false;
		if (!is_at_trampoline(stepped))
			return;
		stepped->trampoline = call;
	}
	stepped->nr_calls -= stepped->nr_calls > 0;
}

/* Execute an instruction; false if the process has ended. */
static bool go_on(struct stepped *stepped)
{
	enum instruction instruction = next_instruction(stepped);

	if (!go_on_until(stepped, PTRACE_SINGLESTEP, SIGTRAP))
		return false;
	if (instruction == SYSTEM_CALL)
		stepped->knows_mappings = false;
	if (stepped->trampoline && !is_at_trampoline(stepped))
		stepped->trampoline = 0;
	else if (instruction == CALL && !stepped->trampoline)
		note_call(stepped);
	else if (instruction == RETURN && !stepped->trampoline)
		note_return(stepped);
	return true;
}

/* ---- comparing ---- */

/* Return address number i, or where the thread is. */
static uint64_t expected(const struct stepped *stepped, uint32_t i)
{
	if (i == 0)
		return stepped->trampoline ? stepped->trampoline : stepped->regs.rip;
	return stepped->calls[stepped->nr_calls - i];
}

static bool is_right(const struct stepped *stepped, uint32_t nr, enum unwind_end end)
{
	size_t all = stepped->nr_calls + 1;

	for (uint32_t i = 0; i < nr && i < all; i++)
		if (stepped->last->frames[i] != expected(stepped, i))
			return false;
	return end == UNWIND_COMPLETE ? nr == all : nr <= all;
}

static void print_address(struct stepped *stepped, uint64_t address)
{
	const struct mapping *mapping = find_mapping(stepped, address);
	const char *name = mapping ? strrchr(mapping->path, '/') : NULL;

	printf(" %16" PRIx64, address);
	if (mapping)
		printf(" %s+0x%" PRIx64, name ? name + 1 : mapping->path,
		       address - mapping->start + mapping->offset);
}

static void print_both(struct stepped *stepped, const char *what, uint32_t nr, enum unwind_end end)
{
	uint32_t all = (uint32_t)stepped->nr_calls + 1;

	printf("%s: walked (%s), and as it was called\n", what, walked_stack__end_text(end));
	for (uint32_t i = 0; i < nr || i < all; i++) {
		printf("%4" PRIu32, i);
		print_address(stepped, i < nr ? stepped->last->frames[i] : 0);
		printf(" |");
		print_address(stepped, i < all ? expected(stepped, i) : 0);
		putchar('\n');
	}
}

/* The walk of where the thread is, when tables have come. */
static enum unwind_end take_walk(struct stepped *stepped, uint32_t *nr)
{
	const struct timespec moment = {.tv_nsec = 10000000};
	enum unwind_end end;

	for (int i = 0; i < TRIES_MAX; i++) {
		*nr = stepped->last->nr;
		end = walked_stack__end(stepped->last->frames, nr);
		if (end != UNWIND_TABLES_MISSING)
			break;
		nanosleep(&moment, NULL);
		stop_again(stepped);
	}
	return end;
}

/* Its frames become addresses; false if one cannot. */
static bool place_frames(struct stepped *stepped, uint32_t nr)
{
	(void)find_mapping(stepped, 0);
	return walked_stack__place(stepped->last->frames, nr,
				   unwinding__modules(session__unwinding(stepped->session)),
				   &stepped->process.mappings);
}

/* What was called before the first place is what a walk finds. */
static void begin(struct stepped *stepped)
{
	uint32_t nr;
	enum unwind_end end = take_walk(stepped, &nr);

	if (!place_frames(stepped, nr) || end != UNWIND_COMPLETE || nr > CALLS_MAX)
		fail("the first walk is not complete");
	while (stepped->nr_calls + 1 < nr) {
		stepped->calls[stepped->nr_calls] =
			stepped->last->frames[nr - 1 - stepped->nr_calls];
		stepped->nr_calls++;
	}
}

static void compare(struct stepped *stepped)
{
	uint32_t nr;
	enum unwind_end end = take_walk(stepped, &nr);

	if (!place_frames(stepped, nr) || !is_right(stepped, nr, end)) {
		if (stepped->different++ < DIFFERENT_SHOWN)
			print_both(stepped, "different", nr, end);
	} else if (end == UNWIND_COMPLETE) {
		stepped->complete++;
	} else if (stepped->incomplete[end]++ < DIFFERENT_SHOWN) {
		print_both(stepped, "not complete", nr, end);
	}
}

/* ---- all of it ---- */

static int load(struct stepped *stepped, struct error *error)
{
	struct trace_config *config;
	const struct bpf_map *map;
	int err;

	stepped->skeleton = stepped_bpf__open();
	if (!stepped->skeleton)
		return error__set(error, -errno, "cannot open the BPF program");
	config = (struct trace_config *)&stepped->skeleton->rodata->config;
	err = session__configure(stepped->session, stepped->skeleton->obj, config, error);
	if (!err)
		err = session__load(stepped->session, stepped->skeleton->obj, NULL, error);
	if (err)
		return err;
	map = stepped->skeleton->maps.bss;
	stepped->last =
		page_map(bpf_map__fd(map), bpf_map__value_size(map), PROT_READ | PROT_WRITE, 0);
	if (stepped->last == MAP_FAILED)
		return error__set(error, -errno, "cannot map the walk: %s", strerror(errno));
	stepped->last->tid = (uint32_t)stepped->pid;
	stepped->attached = bpf_raw_tracepoint_open(
		"sched_switch", bpf_program__fd(stepped->skeleton->progs.take_stepped_walk));
	return stepped->attached < 0 ?
		       error__set(error, stepped->attached, "cannot attach to sched_switch: %s",
				  strerror(-stepped->attached)) :
		       0;
}

static void print_sum(const struct stepped *stepped)
{
	uint64_t incomplete = walked_stack__incomplete(stepped->incomplete);

	printf("%" PRIu64 " places: %" PRIu64 " complete, ",
	       stepped->complete + stepped->different + incomplete, stepped->complete);
	walked_stack__print_incomplete(stepped->incomplete);
	printf(", %" PRIu64 " different\n", stepped->different);
}

static bool is_good(const struct stepped *stepped)
{
	return !stepped->different && stepped->complete &&
	       999 * walked_stack__incomplete(stepped->incomplete) <= stepped->complete;
}

int main(int argc, char **argv)
{
	CLEANUP(stepped__release) struct stepped stepped = {.options = TRACE_OPTIONS_DEFAULTS};
	struct error error;
	int signal;

	if (argc < 2) {
		fputs("usage: stepped PROGRAM [ARGUMENT...]\n", stderr);
		return 2;
	}
	stay_on_this_cpu();
	stepped.pid = start(argv + 1);
	if (!wait_for_stop(&stepped, &signal))
		return 1;
	stepped.options.pids = (struct pid_list){.pids = &stepped.pid, .nr = 1};
	stepped.options.user_stacks_only = true;
	if (session__open(&stepped.session, &stepped.options, &error) || load(&stepped, &error)) {
		fprintf(stderr, "stepped: %s\n", error.text);
		return 77;
	}
	if (!go_on_until(&stepped, PTRACE_CONT, SIGURG))
		return 1;
	if (!stepped.last->walked) {
		fputs("stepped: the kernel walks the stack itself\n", stderr);
		return 77;
	}
	begin(&stepped);
	while (go_on(&stepped))
		compare(&stepped);
	print_sum(&stepped);
	return !is_good(&stepped);
}
