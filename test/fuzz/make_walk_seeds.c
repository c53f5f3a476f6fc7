// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * make_walk_seeds DIRECTORY: write the seeds of fuzz_walk: a stack of calls by rules that compilers
 * make, one with a signal in it, and one that frame pointers link.
 */
#include <string.h>

#include "core/unwind/tables.h"
#include "test/fuzz/seed.h"
#include "test/fuzz/walk_input.h"

#define FRAME_WORDS 4
#define NR_WORDS    512

/* Where the rules hold, in the first page; each for so many bytes. */
enum rule {
	ORDINARY = 3, /* a frame of FRAME_WORDS: the frame pointer, and the return address behind */
	SIGNAL,
	NR_RULES,
};
#define PART 1000

static struct {
	struct walk_input input;
	uint64_t stack[NR_WORDS];
} seed;

static uint64_t code_of(enum rule rule)
{
	return CODE + (uint64_t)rule * PART + PART / 2;
}

static void set_start(uint64_t pc)
{
#ifdef __x86_64__
	seed.input.regs = (walker_regs){.rip = pc, .rsp = STACK, .rbp = STACK, .cs = 0x33};
#else
	seed.input.regs = (walker_regs){.pc = pc, .sp = STACK, .regs[29] = STACK};
#endif
}

static void make_tables(void)
{
#ifdef __x86_64__
	const uint8_t stack_pointer = 7;
#else
	const uint8_t stack_pointer = 31;
#endif
	uint32_t *rows = seed.input.words + UNWIND_INDEX_WORDS;

	memset(&seed, 0, sizeof(seed));
	seed.input.flags = ANY_RULES;
	seed.input.rules[UNWIND_UNSUPPORTED].cfa = UNWIND_UNSUPPORTED;
	seed.input.rules[UNWIND_END].cfa = UNWIND_END;
	seed.input.rules[ORDINARY] =
		(struct unwind_rule){.cfa = UNWIND_REGISTER,
				     .cfa_register = stack_pointer,
				     .cfa_offset = FRAME_WORDS * sizeof(uint64_t),
				     .frame_pointer = UNWIND_AT_CFA,
				     .frame_pointer_offset = -FRAME_WORDS * 8,
				     .return_address = UNWIND_AT_CFA,
				     .return_address_offset = -(FRAME_WORDS - 1) * 8};
	seed.input.rules[SIGNAL] = (struct unwind_rule){
		.cfa = UNWIND_REGISTER, .cfa_register = stack_pointer, .flags = UNWIND_SIGNAL};
	for (uint32_t rule = 0; rule < NR_RULES; rule++)
		rows[rule] = unwind_row(rule, rule * PART);
	unwind_page__index(seed.input.words, rows, NR_RULES);
}

/* So many frames of calls, the last of them in code of that rule. */
static void put_calls(uint32_t nr, enum rule last)
{
	for (uint32_t i = 0; i < nr; i++) {
		seed.stack[i * FRAME_WORDS] = STACK + (i + 1) * FRAME_WORDS * sizeof(uint64_t);
		seed.stack[i * FRAME_WORDS + 1] = code_of(i + 1 < nr ? ORDINARY : last);
	}
}

static int write_seed(const char *directory, const char *name)
{
	return seed__write(directory, name, &seed, sizeof(seed));
}

int main(int argc, char **argv)
{
	int err;

	if (argc != 2)
		return 2;
	make_tables();
	set_start(code_of(ORDINARY));
	put_calls(20, (enum rule)UNWIND_END);
	err = write_seed(argv[1], "calls");
	put_calls(5, SIGNAL);
	err |= write_seed(argv[1], "signal");
	put_calls(20, (enum rule)UNWIND_NONE);
	seed.stack[19 * FRAME_WORDS + 1] = 0;
	set_start(code_of((enum rule)UNWIND_NONE));
	seed.input.flags |= FRAME_POINTERS;
	err |= write_seed(argv[1], "frame_pointers");
	return err;
}
