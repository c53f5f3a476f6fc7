/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input of fuzz_walk, for those who write its seeds; behind it stands the stack. */
#ifndef TRACEKIT_TEST_FUZZ_WALK_INPUT_H
#define TRACEKIT_TEST_FUZZ_WALK_INPUT_H

#include <stdint.h>

#include "bpf/host/walker.h"
#include "bpf/unwind_rule.h"
#include "bpf/unwind_tables.h"

#define CODE	  0x400000ULL
#define CODE_SIZE (2ULL << UNWIND_PAGE_BITS)
#define OTHER	  0x800000ULL /* code without tables, and memory without a file */
#define STACK	  0x7ffc00000000ULL

#define RULES 16
#define WORDS (UNWIND_INDEX_WORDS + 64)

struct walk_input {
	walker_regs regs;
	struct unwind_rule rules[RULES];
	uint32_t words[WORDS]; /* of both pages: an index, and rows */
	uint32_t flags;	       /* enum walk_flag */
};

enum walk_flag {
	FRAME_POINTERS = 1,
	STACK_BEGINS = 2, /* at its first byte */
	ANY_RULES = 4,	  /* else they are such as programs have */
};

#endif
