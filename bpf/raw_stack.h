/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that are walked later: the tables of a file were not loaded when a walk came to it, so the
 * program sends what the walk reads, and user space walks when the tables have come
 * (core/unwind/later.h). Nothing of the process is needed by then.
 */
#ifndef TRACEKIT_BPF_RAW_STACK_H
#define TRACEKIT_BPF_RAW_STACK_H

#include <linux/types.h>

#include "abi.h"

/* Words of a stack that are looked at, which is all of most stacks. */
#define RAW_WORDS 4096

/*
 * What a walk can use of them: words that lead to code, or into the stack, fewer than one in four.
 * Those are sent, each with its number. A power of two; with more the rest is deeper than what is
 * sent.
 */
#define RAW_KEPT	2048
#define RAW_NUMBER_BITS 16

static inline __u64 raw_word(__u32 number, __u64 word)
{
	return (__u64)number << (64 - RAW_NUMBER_BITS) | word;
}

static inline __u32 raw_word__number(__u64 raw)
{
	return (__u32)(raw >> (64 - RAW_NUMBER_BITS));
}

static inline __u64 raw_word__word(__u64 raw)
{
	return raw & ((1ULL << (64 - RAW_NUMBER_BITS)) - 1);
}

/* What stands for the others, which lead nowhere; but 0, which means the outermost frame, is told.
 */
#define RAW_LEFT_OUT 1

/* Mappings that its words lead to, of those that are looked up. */
#define RAW_MAPPINGS 32

/* At least as many as DWARF_REGISTERS of each processor. */
#define RAW_REGISTERS 32

struct raw_mapping {
	__u64 start, end;
	/* As in struct unwind_mapping. */
	__u64 base;
	__u32 module;
	__u16 executable;
	__u16 is_kept; /* words that lead there are sent */
};

/*
 * Behind the rest of it are, one behind the other, nr_kept words (see raw_word()), nr_mappings
 * mappings, and a bit for each of the nr_words words: it is 0.
 */
#define RAW_MAPPING_WORDS (sizeof(struct raw_mapping) / sizeof(__u64))
#define RAW_MORE_WORDS	  (RAW_KEPT + RAW_MAPPINGS * RAW_MAPPING_WORDS + RAW_WORDS / 64)

struct raw_stack {
	/* What the event is counted by. Of a stream: only its epoch, and as user, the raw id. */
	struct stack_key key;
	struct stack_count first;
	__u64 weight;
	/* Where the walk began. */
	__u64 registers[RAW_REGISTERS]; /* by the numbers of DWARF */
	__u64 pc;
	__u64 program;	      /* as in struct stack_key */
	__u32 tgid;	      /* of the process that had it */
	__u8 exact, at_entry; /* as in struct walk; */
	__u8 is_called;	      /* in struct walk_start */
	__u8 skips;	/* of some words it is not known where they lead: they were too many */
	__u64 start;	/* where the words are in the process, */
	__u32 nr_words; /* so many, up to the end of a page */
	__u32 nr_mappings, nr_kept;
	__u32 more_reserved;
	__u64 more[RAW_MORE_WORDS];
};

static inline __u32 raw_stack__zero_words(const struct raw_stack *raw)
{
	return (raw->nr_words + 63) / 64;
}

/* The bytes of it all, if nr_kept and nr_mappings are right. */
static inline __u64 raw_stack__size(const struct raw_stack *raw)
{
	return __builtin_offsetof(struct raw_stack, more) +
	       (raw->nr_kept + raw->nr_mappings * RAW_MAPPING_WORDS + raw_stack__zero_words(raw)) *
		       sizeof(__u64);
}

static inline const struct raw_mapping *raw_stack__mappings(const struct raw_stack *raw)
{
	return (const struct raw_mapping *)(raw->more + raw->nr_kept);
}

static inline const __u64 *raw_stack__zeros(const struct raw_stack *raw)
{
	return raw->more + raw->nr_kept + raw->nr_mappings * RAW_MAPPING_WORDS;
}

/* A raw stack that has been walked; the rest as above. */
struct walked_stack {
	struct stack_key key;
	struct stack_count first;
	__u64 weight;
	__u32 end; /* enum unwind_end */
	__u32 nr;
	__u64 frames[STACK_SLOTS];
};

/* What is being sent. Programs claim one as they do scratch slots. */
#define RAW_BUFFERS 8

/*
 * A stream names a stack that is walked later by an id that no hash is: hi tells the buffer, lo the
 * time and the epoch. Its parts have ids of their own, all of them below the first's.
 */
#define RAW_PART_BITS 4
#define RAW_ID_MIN    (~0ULL - (RAW_BUFFERS << RAW_PART_BITS))

static inline struct stack_id raw_id(__u32 buffer, __u64 time, __u32 in_epoch)
{
	return (struct stack_id){.lo = time << 1 | in_epoch % NR_EPOCHS,
				 .hi = ~0ULL - (buffer << RAW_PART_BITS)};
}

static inline struct stack_id raw_id__of_part(struct stack_id id, __u32 part)
{
	return (struct stack_id){.lo = id.lo, .hi = id.hi - part};
}

static inline int stack_id__is_raw(struct stack_id id)
{
	return id.hi > RAW_ID_MIN;
}

_Static_assert(STACK_PARTS <= 1 << RAW_PART_BITS, "ids have room for them");
_Static_assert(sizeof(struct raw_mapping) == 32, "no padding");
_Static_assert(sizeof(struct raw_stack) ==
		       72 + 24 + 8 + 8 * RAW_REGISTERS + 48 + RAW_MORE_WORDS * 8,
	       "no padding");
_Static_assert(sizeof(struct walked_stack) == 72 + 24 + 16 + 8 * STACK_SLOTS, "no padding");

#endif
