// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The walk of arm64, on any processor: over memory, code and tables that are made by hand, as the
 * ABI and the kernel have them.
 */
#include <string.h>

#include "bpf/host/walker.h"
#include "core/unwind/tables.h"
#include "test/unit/tap.h"

#define CODE	   0x400000ULL
#define CODE_WORDS 4096
#define GENERATED  0x800000ULL /* code of no file */
#define STACK	   0xffffc0000000ULL
#define NR_WORDS   1024
#define AT(number) (STACK + (number) * sizeof(uint64_t))
#define FP	   29
#define LR	   30
#define SP	   31

/* Where the code of each kind begins, in the file. */
enum part {
	LEAF = 0,	   /* its return address is in x30 */
	ORDINARY = 0x100,  /* stp x29, x30, [sp, #-32]! */
	RETURNS = 0x200,   /* from a signal, as the rule says */
	OUTERMOST = 0x300, /* ... and the end of all */
	UNKNOWN = 0x400,   /* no rule */
	END_OF_CODE = CODE_WORDS * 4,
};

static const struct unwind_rule rules[] = {
	{.cfa = UNWIND_NONE},
	{.cfa = UNWIND_UNSUPPORTED},
	{.cfa = UNWIND_END},
	{.cfa = UNWIND_REGISTER,
	 .cfa_register = SP,
	 .return_address = UNWIND_IN_REGISTER,
	 .return_address_register = LR},
	{.cfa = UNWIND_REGISTER,
	 .cfa_register = SP,
	 .cfa_offset = 32,
	 .return_address = UNWIND_AT_CFA,
	 .return_address_offset = -24,
	 .frame_pointer = UNWIND_AT_CFA,
	 .frame_pointer_offset = -32},
	{.cfa = UNWIND_REGISTER, .cfa_register = SP, .flags = UNWIND_SIGNAL},
};

static uint64_t stack[NR_WORDS];
static uint32_t code[CODE_WORDS];
static struct unwind_shard shard;
static struct unwind_page page;

static void make_table(void)
{
	const uint32_t rows[] = {unwind_row(3, LEAF), unwind_row(4, ORDINARY),
				 unwind_row(5, RETURNS), unwind_row(2, OUTERMOST),
				 unwind_row(UNWIND_NONE, UNKNOWN)};
	const uint32_t nr = sizeof(rows) / sizeof(rows[0]);

	unwind_page__index(shard.words, rows, nr);
	memcpy(shard.words + UNWIND_INDEX_WORDS, rows, sizeof(rows));
	page = (struct unwind_page){.shard = 0, .last = UNWIND_INDEX_WORDS + nr - 1};
}

static const struct unwind_shard *find_shard(const void *shards, uint32_t number)
{
	return number ? NULL : shards;
}

static bool read_from(const void *memory, size_t bytes, uint64_t offset, void *to, size_t size)
{
	if (offset > bytes || size > bytes - offset)
		return false;
	memcpy(to, (const char *)memory + offset, size);
	return true;
}

static bool read_memory(void *context, uint64_t address, void *to, size_t size)
{
	(void)context;
	return read_from(stack, sizeof(stack), address - STACK, to, size) ||
	       read_from(code, sizeof(code), address - CODE, to, size);
}

/* The frames of a walk from there. */
static struct {
	uint64_t frames[STACK_SLOTS];
	uint32_t nr;
} found;

static enum unwind_end walk_from(const walker_regs *regs)
{
	static const struct unwind_module module = {.nr_pages = 1, .state = UNWIND_MODULE_LOADED};
	static const struct walker_mapping mappings[] = {
		{.start = CODE, .end = CODE + END_OF_CODE, .module = 0, .executable = true},
		{.start = GENERATED,
		 .end = GENERATED + END_OF_CODE,
		 .module = UNWIND_NO_MODULE,
		 .executable = true},
		{.start = STACK, .end = STACK + sizeof(stack), .module = UNWIND_NO_MODULE},
	};
	const struct walker walker = {.modules = &module,
				      .nr_modules = 1,
				      .pages = &page,
				      .nr_pages = 1,
				      .rules = rules,
				      .nr_rules = sizeof(rules) / sizeof(rules[0]),
				      .shard = find_shard,
				      .shards = &shard,
				      .read = read_memory,
				      .mappings = mappings,
				      .nr_mappings = 3,
				      .max_depth = MAX_FRAMES,
				      .frame_pointers = true};
	const struct walker_start start = walker__start(regs);

	return walker__walk(&walker, &start, found.frames, &found.nr);
}

static uint64_t place(uint64_t offset)
{
	return frame_in_module(0, offset);
}

static void clear(void)
{
	memset(stack, 0, sizeof(stack));
	memset(code, 0, sizeof(code));
}

static void return_addresses(void)
{
	const walker_regs regs = {
		.regs[LR] = CODE + ORDINARY + 16, .sp = AT(0), .pc = CODE + LEAF + 8};

	clear();
	stack[0] = AT(8);
	/* With a signature in the bits that no address has (pointer authentication). */
	stack[1] = (CODE + OUTERMOST + 4) | 0xab12ULL << 48;
	CHECK_INT(walk_from(&regs), UNWIND_COMPLETE);
	CHECK_INT(found.nr, 3);
	CHECK_INT(found.frames[0], place(LEAF + 8));
	CHECK_INT(found.frames[1], place(ORDINARY + 16));
	CHECK_INT(found.frames[2], place(OUTERMOST + 4));
}

/* A struct rt_sigframe: 128 bytes of siginfo_t, and a struct ucontext (arch/arm64/kernel/signal.c).
 */
#define SIGNAL_REGISTERS ((128 + 176 + 8) / 8)

/* The handler returns to code at offset; it has interrupted a leaf. */
static void check_signal(uint64_t offset)
{
	const walker_regs regs = {
		.regs[LR] = CODE + offset + 4, .sp = AT(0), .pc = CODE + LEAF + 8};

	stack[SIGNAL_REGISTERS + LR] = CODE + ORDINARY + 16;
	stack[SIGNAL_REGISTERS + SP] = AT(600);
	stack[SIGNAL_REGISTERS + 32] = CODE + LEAF + 20;
	stack[601] = CODE + OUTERMOST + 4;
	CHECK_INT(walk_from(&regs), UNWIND_COMPLETE);
	CHECK_INT(found.nr, 5);
	CHECK_INT(frame_plain(found.frames[1]), place(offset + 4));
	CHECK(frame_is_interrupted(found.frames[2]));
	CHECK_INT(frame_plain(found.frames[2]), place(LEAF + 20));
	CHECK_INT(found.frames[3], place(ORDINARY + 16));
	CHECK_INT(found.frames[4], place(OUTERMOST + 4));
}

static void signals(void)
{
	clear();
	check_signal(RETURNS);
	/* mov x8, #139; svc #0: no rule is needed. */
	clear();
	code[(UNKNOWN + 4) / 4] = 0xd2801168;
	code[(UNKNOWN + 8) / 4] = 0xd4000001;
	check_signal(UNKNOWN);
}

/* bl from the instruction at from to the one at to */
static void put_call(uint64_t from, uint64_t to)
{
	code[from / 4] = 0x94000000 | (((uint32_t)to - (uint32_t)from) / 4 & 0x3ffffff);
}

static void leaves_without_a_rule(void)
{
	walker_regs regs = {
		.regs[LR] = CODE + ORDINARY + 16, .sp = AT(0), .pc = CODE + UNKNOWN + 8};

	clear();
	stack[1] = CODE + OUTERMOST + 4;
	put_call(ORDINARY + 12, UNKNOWN);
	CHECK_INT(walk_from(&regs), UNWIND_COMPLETE);
	CHECK_INT(found.nr, 3);
	CHECK_INT(found.frames[1], place(ORDINARY + 16));
	/* blr x3: to wherever it was; but in a function that has called others x30 leads close by.
	 */
	code[(ORDINARY + 12) / 4] = 0xd63f0060;
	CHECK_INT(walk_from(&regs), UNWIND_NO_INFORMATION);
	regs.pc = CODE + 0x2000;
	CHECK_INT(walk_from(&regs), UNWIND_COMPLETE);
	/* What stands before is no call: x30 is of somebody else. */
	code[(ORDINARY + 12) / 4] = 0xd503201f;
	CHECK_INT(walk_from(&regs), UNWIND_NO_INFORMATION);
	CHECK_INT(found.nr, 2);
}

static void frame_pointers(void)
{
	const walker_regs regs = {.regs[FP] = AT(4), .sp = AT(0), .pc = CODE + UNKNOWN + 8};

	clear();
	stack[4] = AT(8);
	stack[5] = CODE + UNKNOWN + 64;
	stack[9] = CODE + UNKNOWN + 128;
	CHECK_INT(walk_from(&regs), UNWIND_ASSISTED);
	CHECK_INT(found.nr, 3);
	CHECK_INT(found.frames[1], place(UNKNOWN + 64));
	CHECK_INT(found.frames[2], place(UNKNOWN + 128));
}

/* A thread in the code that returns from a signal, or in the call that this makes. */
static void returning_from_signals(void)
{
	clear();
	code[UNKNOWN / 4] = 0xd2801168;
	code[UNKNOWN / 4 + 1] = 0xd4000001;
	stack[SIGNAL_REGISTERS + LR] = CODE + ORDINARY + 16;
	stack[SIGNAL_REGISTERS + SP] = AT(600);
	stack[SIGNAL_REGISTERS + 32] = CODE + LEAF + 20;
	stack[601] = CODE + OUTERMOST + 4;
	for (uint64_t i = 0; i <= 8; i += 4) {
		const walker_regs regs = {.sp = AT(0), .pc = CODE + UNKNOWN + i};

		CHECK_INT(walk_from(&regs), UNWIND_COMPLETE);
		CHECK_INT(found.nr, 4);
		CHECK_INT(frame_plain(found.frames[1]), place(LEAF + 20));
	}
}

/* Code about which nothing is known, as that of the vDSO: x30 leads out of it. */
static void leaves_of_generated_code(void)
{
	walker_regs regs = {.regs[LR] = (CODE + ORDINARY + 16) | 0xab12ULL << 48,
			    .regs[FP] = AT(40),
			    .sp = AT(0),
			    .pc = GENERATED + 8};

	clear();
	stack[1] = CODE + OUTERMOST + 4;
	CHECK_INT(walk_from(&regs), UNWIND_COMPLETE);
	CHECK_INT(found.nr, 3);
	CHECK_INT(found.frames[1], place(ORDINARY + 16));
	/* It has a frame record already, with the same address. */
	regs.regs[FP] = AT(2);
	stack[2] = AT(6);
	stack[3] = regs.regs[LR];
	stack[7] = CODE + OUTERMOST + 4;
	CHECK_INT(walk_from(&regs), UNWIND_ASSISTED);
	CHECK_INT(found.nr, 3);
	CHECK_INT(found.frames[1], place(ORDINARY + 16));
	CHECK_INT(found.frames[2], place(OUTERMOST + 4));
	/* x30 leads into it: what the function has called has returned. */
	regs.regs[LR] = GENERATED + 4;
	CHECK_INT(walk_from(&regs), UNWIND_ASSISTED);
	CHECK_INT(found.nr, 3);
	CHECK_INT(found.frames[1], place(ORDINARY + 16));
}

/* Where the stack pointer is not known, tables go on by the frame record, or not at all. */
static void tables_behind_a_frame_pointer(void)
{
	walker_regs regs = {
		.regs[LR] = GENERATED + 4, .regs[FP] = AT(4), .sp = AT(0), .pc = GENERATED + 8};

	clear();
	stack[4] = AT(20); /* that of the caller, above what is its callee's own */
	stack[5] = CODE + ORDINARY + 16;
	stack[20] = AT(30);
	stack[21] = CODE + OUTERMOST + 4;
	CHECK_INT(walk_from(&regs), UNWIND_ASSISTED);
	CHECK_INT(found.nr, 3);
	CHECK_INT(found.frames[1], place(ORDINARY + 16));
	CHECK_INT(found.frames[2], place(OUTERMOST + 4));
	/* A function that keeps none, in the place of that one: where its frame is nobody knows. */
	stack[5] = CODE + LEAF + 8;
	CHECK_INT(walk_from(&regs), UNWIND_LOST_REGISTER);
	stack[5] = CODE + RETURNS + 8;
	CHECK_INT(walk_from(&regs), UNWIND_LOST_REGISTER);
}

static const struct tap_test tests[] = {
	{"return addresses in x30 and on the stack, signed or not", return_addresses},
	{"signals, by a rule or by the code that returns from them", signals},
	{"leaves without a rule, by the call that leads to them", leaves_without_a_rule},
	{"frame pointers", frame_pointers},
	{"threads that are returning from a signal", returning_from_signals},
	{"leaves of code about which nothing is known", leaves_of_generated_code},
	{"tables behind a frame pointer", tables_behind_a_frame_pointer},
};

int main(void)
{
	make_table();
	return TAP_RUN(tests);
}
