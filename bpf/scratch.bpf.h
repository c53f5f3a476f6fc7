/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory in which an event is put together: its stacks are walked and hashed there. */
#ifndef TRACEKIT_BPF_SCRATCH_H
#define TRACEKIT_BPF_SCRATCH_H

#include "arch.bpf.h"
#include "common.bpf.h"
#include "config.bpf.h"
#include "mapping.bpf.h"
#include "unwind_tables.h"

/*
 * Scratch slots: a stack is too large for the BPF stack, and a per-CPU variable
 * is overwritten when a program is preempted, or interrupted by a program of
 * another kind. So there are slots, and an event claims one.
 *
 * Claiming needs no atomic that returns a value (5.12+): add one, then look. A
 * context owns a slot if it reads 1 after its own addition. Two cannot own it: while
 * both additions stand, the later reader sees at least 2. Two that race can both
 * fail and go to the next slot, which costs the use of a slot, never a stack.
 *
 * What the last owner has written is there for the next one on processors that keep the order of
 * stores, x86-64. On arm64 such an addition orders nothing, but a CPU sees its own stores in order,
 * and programs do not move from one to another: so each has its own slots, and none are shared
 * (shared_slots is 0). Where more contexts are on top of each other than there are, an event is
 * lost and counted. That nobody else owns a slot needs no order: all agree on the values of one
 * word.
 *
 * The key is in the slot for another reason as well: from 6.13 on (a76ab5731e32) the
 * kernel gives functions with 64 bytes of stack or more a stack of their own on each CPU,
 * which the next thread overwrites when a uprobe program is preempted (seen on 7.2). The
 * kernel rounds up to 16: so a function of programs that can be preempted uses at most 48.
 */

/* Leaf first. Only frames[0..nr) mean anything. */
struct stack {
	__u32 nr;
	__u32 reserved;
	__u64 frames[STACK_SLOTS];
};

/* A part of a user stack that was read at once; see stack_window.bpf.h. */
#define WINDOW_WORDS 64
#define USER_PAGE    4096 /* or larger */

struct stack_window {
	__u64 start;  /* its address */
	__u64 places; /* offsets from 0 on at which it has two words; 0: nothing has been read */
	__u64 number; /* of the scratch slot, for read_stack_window() */
	__u64 found;  /* the word that was asked for */
	__u64 words[WINDOW_WORDS + 1];
};

/* Most walks are in fewer files. */
#define RECENT_MAPPINGS 4

/* What walks change of where they begin. */
struct walk_start {
	__u64 pc, stack_pointer, frame_pointer, base_register;
	__u8 exact, at_entry;
	__u8 is_lost;	/* a signal has changed all registers */
	__u8 is_called; /* in a function that has only just been called: see is_called() */
	__u8 reserved[4];
};

/*
 * The state of a walk. All registers are known at the leaf and where a signal interrupted; in
 * callers only the stack pointer and, mostly, the frame pointer.
 */
struct walk {
	struct walk_start start;
	__u64 pc;
	__u64 registers[DWARF_REGISTERS]; /* by the numbers of DWARF */
	__u64 valid;			  /* a bit for each of them */
	__u64 cfa;			  /* of the frame that is left */
	__u64 frame;			  /* that frame, as it is stored; see walk__note_frame() */
	__u32 number;			  /* of the scratch slot, for walk_find_rule() */
	__u32 tgid;
	__u32 rule;    /* by its number */
	__u8 exact;    /* pc is of an instruction that has not been executed, not behind a call */
	__u8 assisted; /* a frame pointer has helped earlier */
	__u8 by_frame_pointer; /* so many of the last steps were by a frame pointer; 2: or more */
	__u8 at_entry;	       /* the walk began at the first instruction of a function */
	__u8 may_be_behind_breakpoint; /* its first pc; see user_regs__may_be_behind_breakpoint() */
	__u64 mm, root; /* of the process: its struct mm_struct, and the root of its mappings */
	__u64 mm_id;	/* which mm_struct it is, and the number of its last change: */
	__u32 mm_seq;
	__u32 nr_walks; /* in these mappings */
	/* Mappings that this walk or earlier ones have been in. */
	struct unwind_mapping recent[RECENT_MAPPINGS];
	__u64 nr_recent;
	__u64 now;	     /* when it began, by unwind_age() */
	__u64 program;	     /* of the process, as in struct stack_key */
	__u64 bases_version; /* of struct unwind_numbers */
	__u64 trampoline;    /* of return probes, in the process; or 0: see user_probes.bpf.h */
	__u64 instance;	     /* the return_instance that was used last, or 0 */
	/* The last mapping that an address was in; it ends at 0 if there is none. */
	struct unwind_mapping mapping;
	struct unwind_module module;
};

struct scratch {
	__u64 claims;
	__u32 number;	 /* of the slot, for functions that look it up again */
	__u32 epoch;	 /* of the event */
	__u32 by_kernel; /* enum unwind_end: why the kernel walks the stack, if it does */
	__u32 raw;	 /* the buffer that keeps the stack, plus 1; 0: there is none (raw.bpf.h) */
	__u64 weight;	 /* of the event, as in struct stack_count */
	union {
		struct {
			struct stack_key key;	  /* what an event is counted by, */
			struct stack_count first; /* and its value before that, if it is new */
		};
		struct event_record event; /* or sent as */
	};
	struct stack stack;	   /* that is walked, */
	struct part_record record; /* and a part of it, with its id */
	struct walk walk;
	struct mapping_search search; /* of where it is */
	struct stack_window window;
	user_regs regs;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set between open and load */
	__type(key, __u32);
	__type(value, struct scratch);
} scratch_slots SEC(".maps");

/*
 * The slot that a context owns, by its number. Global functions have scalar arguments, and find
 * their slot again by this number: they are verified once for all callers, and do most of what
 * there is to verify.
 */
static __always_inline struct scratch *scratch__find(__u32 number)
{
	return bpf_map_lookup_elem(&scratch_slots, &number);
}

/* True if what the claims are for is the caller's now, until unclaim(). */
static __always_inline bool claim(__u64 *claims)
{
	__sync_fetch_and_add(claims, 1);
	if (READ_ONCE(*claims) == 1)
		return true;
	__sync_fetch_and_add(claims, -1);
	return false;
}

static __always_inline void unclaim(__u64 *claims)
{
	__sync_fetch_and_add(claims, -1);
}

/* The number of the slot that a CPU tries after i others. */
static __always_inline __u32 scratch__number(__u32 cpu, __u32 i)
{
	if (i < SCRATCH_SLOTS_OWN)
		return cpu * SCRATCH_SLOTS_OWN + i;
	i += cpu * SCRATCH_SLOTS_TRIED - SCRATCH_SLOTS_OWN;
	return config.cpus * SCRATCH_SLOTS_OWN + i % config.shared_slots;
}

/*
 * The number of a slot that is now the caller's, for an event of the process tgid; negative: all
 * are in use. A global function.
 */
__noinline int claim_slot(__u32 in_epoch, __u32 tgid)
{
	__u32 tries = SCRATCH_SLOTS_OWN + (config.shared_slots ? SCRATCH_SLOTS_TRIED : 0);
	/* The numbers of CPUs can have holes. */
	__u32 cpu = bpf_get_smp_processor_id() % config.cpus;

	for (__u32 i = 0; i < tries; i++) {
		__u32 number = scratch__number(cpu, i);
		struct scratch *scratch = scratch__find(number);

		if (!scratch)
			return -1;
		if (claim(&scratch->claims)) {
			scratch->number = number;
			scratch->epoch = in_epoch;
			scratch->raw = 0;
			scratch->weight = 0;
			scratch->window.number = number;
			scratch->walk.number = number;
			scratch->walk.tgid = tgid;
			return (int)number;
		}
	}
	return -1;
}

/* NULL if all slots are in use. */
static __always_inline struct scratch *scratch__claim(__u32 in_epoch, __u32 tgid)
{
	int number = claim_slot(in_epoch, tgid);

	return number < 0 ? (void *)0 : scratch__find((__u32)number);
}

static __always_inline void scratch__release(struct scratch *scratch)
{
	unclaim(&scratch->claims);
}

#endif
