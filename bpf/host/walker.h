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

/* Tests walk stacks of arm64 on other processors, too. */
#if defined(__x86_64__) && !defined(__TARGET_ARCH_arm64)
typedef struct pt_regs walker_regs;
#else
typedef struct user_pt_regs walker_regs;
#endif

#define WALKER_REGISTERS 32 /* at least as many as there are */

/* Where a walk begins. */
struct walker_start {
	uint64_t registers[WALKER_REGISTERS]; /* by the numbers of DWARF */
	uint64_t pc;
	bool exact;	/* pc is of an instruction that has not been executed */
	bool at_entry;	/* ... which is the first of a function */
	bool is_called; /* it is known that the function has only just been called */
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

/* By what a caller was found. */
enum walker_way {
	WALKER_BY_RULE,
	WALKER_BY_CALL, /* the function has only just been called */
	WALKER_BY_FRAME_POINTER,
	WALKER_BY_SIGNAL, /* a signal has interrupted it */
	WALKER_AT_ROOT,	  /* there is none: the stack begins here */
};

/* From a frame to its caller's. */
struct walker_step {
	uint64_t pc;
	uint64_t frame; /* as of struct stack */
	enum walker_way way;
	const struct unwind_rule *rule; /* for WALKER_BY_RULE */
	enum unwind_end end;		/* UNWIND_GOES_ON: then also, of the caller: */
	uint64_t stack_pointer, frame_pointer;
	bool knows_frame_pointer;
};

struct walker {
	/* Tables, as of bpf/unwind_tables.h. */
	const struct unwind_module *modules;
	uint32_t nr_modules;
	const struct unwind_page *pages;
	uint32_t nr_pages;
	const struct unwind_rule *rules;
	uint32_t nr_rules;
	/* A shard by its number, or NULL. */
	const struct unwind_shard *(*shard)(const void *shards, uint32_t number);
	const void *shards;
	/* Read memory of the process; false if not all of it is there. */
	bool (*read)(void *context, uint64_t address, void *to, size_t size);
	/* Called after each step; or NULL. */
	void (*take_step)(void *context, const struct walker_step *step);
	void *context; /* of both */

	const struct walker_mapping *mappings; /* ascending and disjoint */
	size_t nr_mappings;
	uint64_t start_stack; /* of struct stack_key: where exec() has put the stack; or 0 */
	uint32_t max_depth;   /* frames that are wanted, MAX_FRAMES at most */
	bool frame_pointers;  /* where there are no tables */
	uint8_t address_bits; /* see abi.h; 0: 48 */
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
