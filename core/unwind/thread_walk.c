// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/thread_walk.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "bpf/host/walker.h"
#include "core/kernel/own_processor.h"
#include "core/unwind/end.h"
#include "core/unwind/host_tables.h"
#include "core/unwind/rule_text.h"
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

static bool is_program(const struct unwind_mapped *mapped)
{
	return mapped->source == UNWIND_SOURCE_FILE || mapped->source == UNWIND_SOURCE_VDSO;
}

static int load(struct thread_walk *walk)
{
	const struct unwind_keeper nobody = {0};
	struct avoided_devices avoided = {0};
	int nr = unwind_reader__mappings(walk->tid, &avoided, &host_identifier, &nobody,
					 &walk->mapped);

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

static void print_way(FILE *out, const struct walker_step *step)
{
	static const char *const ways[] = {
		[WALKER_BY_CALL] = "no rule; it has only just been called",
		[WALKER_BY_FRAME_POINTER] = "no rule; by the frame pointer",
		[WALKER_BY_SIGNAL] = "no rule; the code returns from a signal",
		[WALKER_AT_ROOT] = "no rule",
	};

	if (step->rule)
		rule_text__print(out, step->rule);
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
				.frame_pointers = true,
				.address_bits = own_processor__address_bits()};
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
