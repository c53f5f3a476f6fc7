/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk of user stacks (bpf/unwind.bpf.h), compiled for user space: for a stack that was copied,
 * or of a thread that stands still; and for tests, under sanitizers. It is the same code, which
 * calls the helpers of bpf/host/bpf/bpf_helpers.h: mappings are told to it as the kernel's structs.
 *
 * One walk at a time, by one thread.
 */
#ifndef TRACEKIT_BPF_HOST_WALKER_H
#define TRACEKIT_BPF_HOST_WALKER_H

#include <asm/ptrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "bpf/unwind_rule.h"
#include "bpf/unwind_tables.h"

#ifdef __x86_64__
typedef struct pt_regs walker_regs;
#else
typedef struct user_pt_regs walker_regs;
#endif

#define WALKER_REGISTERS 32 /* at least as many as there are */

/* Where a walk begins. */
struct walker_start {
	uint64_t registers[WALKER_REGISTERS]; /* by the numbers of DWARF */
	uint64_t pc;
	bool exact;    /* pc is of an instruction that has not been executed */
	bool at_entry; /* ... which is the first of a function */
};

/* A mapping of the process; UNWIND_NO_MODULE: of no file. */
struct walker_mapping {
	uint64_t start, end;
	uint64_t offset; /* of start, in the file */
	uint32_t module;
	bool executable;
};

/* More are left out. */
#define WALKER_MAPPINGS_MAX UNWIND_MAPPINGS_MAX

struct walker {
	/* Tables, as of bpf/unwind_tables.h. */
	const struct unwind_module *modules;
	uint32_t nr_modules;
	const struct unwind_page *pages;
	uint32_t nr_pages;
	const struct unwind_rule *rules;
	uint32_t nr_rules;
	/* A shard by its number, or NULL. */
	const struct unwind_shard *(*shard)(void *context, uint32_t number);
	/* Read memory of the process; false if not all of it is there. */
	bool (*read)(void *context, uint64_t address, void *to, size_t size);
	void *context; /* of both */

	const struct walker_mapping *mappings; /* ascending and disjoint */
	size_t nr_mappings;
	uint64_t start_stack; /* of struct stack_key: where exec() has put the stack; or 0 */
	uint32_t max_depth;   /* frames that are wanted, MAX_FRAMES at most */
	bool frame_pointers;  /* where there are no tables */
};

/* Where a thread with these registers is. */
struct walker_start walker__start(const walker_regs *regs);

/*
 * Walk from start on. frames: as of struct stack, leaf first, with a mark where it is not complete.
 * Returns how the walk has ended; UNWIND_GOES_ON, without frames, if neither the code nor the stack
 * of the first frame is mapped.
 */
enum unwind_end walker__walk(const struct walker *walker, const struct walker_start *start,
			     uint64_t frames[STACK_SLOTS], uint32_t *nr);

#endif
