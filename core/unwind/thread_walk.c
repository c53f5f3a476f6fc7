// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/thread_walk.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "bpf/host/walker.h"
#include "core/unwind/end.h"
#include "core/unwind/host_tables.h"
#include "sym/cfi/reader.h"
#include "sym/child/reader_child.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/text.h"

struct thread_walk {
	pid_t tid;
	struct unwind_mapped *mapped;
	size_t nr;
	struct walker_mapping *mappings;
	struct host_tables tables;
	FILE *out;
	size_t nr_steps;
};

static void thread_walk__release(struct thread_walk *walk)
{
	host_tables__release(&walk->tables);
	free(walk->mappings);
	free(walk->mapped);
}

/* Nobody else numbers these files. */
static int identify(int fd, struct mapped_file *file)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	*file = (struct mapped_file){.inode = status.st_ino, .device = (uint32_t)status.st_dev};
	return 0;
}

static bool is_program(const struct unwind_mapped *mapped)
{
	return mapped->source == UNWIND_SOURCE_FILE || mapped->source == UNWIND_SOURCE_VDSO;
}

static int load(struct thread_walk *walk)
{
	/* Descriptors that the child keeps, and has no use for. */
	const struct unwind_identifier identifier = {.identify = identify, .fds = {2, 2}};
	const struct unwind_keeper nobody = {0};
	struct avoided_devices avoided = {0};
	int nr = unwind_reader__mappings(walk->tid, &avoided, &identifier, &nobody, &walk->mapped);

	if (nr < 0)
		return nr;
	walk->nr = (size_t)nr;
	walk->mappings = calloc(walk->nr + 1, sizeof(*walk->mappings));
	if (!walk->mappings)
		return -ENOMEM;
	for (size_t i = 0; i < walk->nr; i++) {
		const struct unwind_mapped *mapped = &walk->mapped[i];
		int module = -1;

		if (is_program(mapped)) {
			module = host_tables__load(&walk->tables, walk->tid, mapped, &avoided);
			if (module < 0)
				return module;
		}
		walk->mappings[i] = (struct walker_mapping){
			.start = mapped->start,
			.end = mapped->end,
			.offset = mapped->offset,
			.module = module < 0 ? UNWIND_NO_MODULE : (uint32_t)module,
			.executable = true,
		};
	}
	return 0;
}

static int stop(pid_t tid)
{
	int status;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return -errno;
	if (!ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		while (waitpid(tid, &status, __WALL) < 0)
			if (errno != EINTR)
				return -errno;
	return 0;
}

static int read_registers(pid_t tid, walker_regs *regs)
{
	struct iovec vector = {.iov_base = regs, .iov_len = sizeof(*regs)};

	return ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &vector) ? -errno : 0;
}

static bool read_memory(void *context, uint64_t address, void *to, size_t size)
{
	const struct thread_walk *walk = context;
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};

	return process_vm_readv(walk->tid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* ---- text ---- */

/* The names of registers, by their numbers of DWARF. */
static const char *register_name(uint32_t number)
{
#ifdef __x86_64__
	static const char *const names[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
					    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
#else
	static const char *const names[] = {"x0",  "x1",  "x2",	 "x3",	"x4",  "x5",  "x6",  "x7",
					    "x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
					    "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
					    "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp"};
#endif

	return number < ARRAY_SIZE(names) ? names[number] : "?";
}

/* "fp=[CFA-16]" */
static void print_saved(FILE *out, const char *what, uint32_t how, uint32_t number, int32_t offset)
{
	switch (how) {
	case UNWIND_SAME:
		break;
	case UNWIND_AT_CFA:
		fprintf(out, ", %s=[CFA%+d]", what, offset);
		break;
	case UNWIND_AT_REGISTER:
		fprintf(out, ", %s=[%s%+d]", what, register_name(number), offset);
		break;
	case UNWIND_IN_REGISTER:
		fprintf(out, ", %s=%s", what, register_name(number));
		break;
	default:
		fprintf(out, ", %s is lost", what);
	}
}

static void print_rule(FILE *out, const struct unwind_rule *rule)
{
	const char *base = register_name(rule->cfa_register);

	if (rule->cfa == UNWIND_END) {
		fputs("the outermost frame", out);
		return;
	}
	if (rule->flags & UNWIND_SIGNAL) {
		fputs("a signal has interrupted its caller", out);
		return;
	}
	if (rule->cfa == UNWIND_MEMORY)
		fprintf(out, "CFA=[%s%+d]%+d", base, rule->cfa_offset, rule->cfa_addend);
	else if (rule->cfa == UNWIND_PLT)
		fprintf(out, "CFA=%s%+d, or 8 more from byte %d of a stub on", base,
			rule->cfa_offset, rule->cfa_addend);
	else
		fprintf(out, "CFA=%s%+d", base, rule->cfa_offset);
	print_saved(out, "ra", rule->return_address, rule->return_address_register,
		    rule->return_address_offset);
	print_saved(out, "fp", rule->frame_pointer, rule->frame_pointer_register,
		    rule->frame_pointer_offset);
}

static void print_way(FILE *out, const struct walker_step *step)
{
	static const char *const ways[] = {
		[WALKER_BY_CALL] = "no rule; it has only just been called",
		[WALKER_BY_FRAME_POINTER] = "no rule; by the frame pointer",
		[WALKER_BY_SIGNAL] = "no rule; the code returns from a signal",
		[WALKER_AT_ROOT] = "no rule",
	};

	if (step->rule)
		print_rule(out, step->rule);
	else
		fputs(ways[step->way], out);
}

/* "#3  7f2b1c0 libc.so.6+0x27249  CFA=rsp+16, ra=[CFA-8]  -> sp 7ffd30, fp 7ffd50" */
static void take_step(void *context, const struct walker_step *step)
{
	struct thread_walk *walk = context;
	char path[UNWIND_PATH_MAX] = "";
	uint64_t offset = 0;

	for (size_t i = 0; i < walk->nr; i++) {
		const struct unwind_mapped *mapped = &walk->mapped[i];

		if (step->pc < mapped->start || step->pc >= mapped->end)
			continue;
		text__clean(mapped->path, strlen(mapped->path), false, path, sizeof(path));
		offset = step->pc - mapped->start + mapped->offset;
	}
	fprintf(walk->out, "#%-3zu %016" PRIx64 " %s+0x%" PRIx64 "\n      ", walk->nr_steps++,
		step->pc, path[0] ? path : "[no file]", offset);
	print_way(walk->out, step);
	if (step->end == UNWIND_GOES_ON) {
		fprintf(walk->out, "; then sp=%" PRIx64, step->stack_pointer);
		if (step->knows_frame_pointer)
			fprintf(walk->out, ", fp=%" PRIx64, step->frame_pointer);
	}
	fputc('\n', walk->out);
}

/* ---- all of it ---- */

static enum unwind_end walk_from(struct thread_walk *walk, const walker_regs *regs)
{
	const struct walker_start start = walker__start(regs);
	struct walker walker = {.read = read_memory,
				.take_step = take_step,
				.context = walk,
				.mappings = walk->mappings,
				.nr_mappings = walk->nr,
				.max_depth = MAX_FRAMES,
				.frame_pointers = true};
	uint64_t frames[STACK_SLOTS];
	uint32_t nr;

	host_tables__use(&walk->tables, &walker);
	return walker__walk(&walker, &start, frames, &nr);
}

int thread_walk__print(pid_t tid, FILE *out, struct error *error)
{
	CLEANUP(thread_walk__release) struct thread_walk walk = {.tid = tid, .out = out};
	walker_regs regs;
	int err = load(&walk);

	if (err)
		return error__set(error, err, "cannot read what %d has mapped: %s", tid,
				  strerror(-err));
	err = stop(tid);
	if (!err)
		err = read_registers(tid, &regs);
	if (err)
		return error__set(error, err, "cannot stop %d: %s", tid, strerror(-err));
	fprintf(out, "the walk has ended: %s\n", unwind_end__text(walk_from(&walk, &regs)));
	(void)ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return 0;
}
