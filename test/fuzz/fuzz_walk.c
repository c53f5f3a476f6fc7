// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The walk of user stacks by tables that are damaged, over a stack that anybody may have written.
 * Input: a struct walk_input, and then the stack.
 */
#include <string.h>

#include "bpf/host/walker.h"
#include "core/unwind/tables.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/walk_input.h"

struct process {
	const struct walk_input *input;
	const uint8_t *stack;
	size_t stack_size;
};

static const struct unwind_shard *find_shard(const void *context, uint32_t number)
{
	static struct unwind_shard shard;
	const struct process *process = context;

	if (number)
		return NULL;
	memcpy(shard.words, process->input->words, sizeof(process->input->words));
	return &shard;
}

static bool read_memory(void *context, uint64_t address, void *to, size_t size)
{
	const struct process *process = context;
	uint64_t offset = address - STACK;

	if (offset > process->stack_size || size > process->stack_size - offset)
		return false;
	memcpy(to, process->stack + offset, size);
	return true;
}

static void check_frame(uint64_t frame, bool is_last)
{
	switch (frame_tag(frame)) {
	case FRAME_USER:
		break;
	case FRAME_MODULE:
		REQUIRE(frame_module(frame) == 0);
		/* A return address can lie behind the last call. */
		REQUIRE(frame_offset(frame) <= CODE_SIZE);
		break;
	case FRAME_MARK:
		REQUIRE(is_last);
		break;
	default:
		REQUIRE(false);
	}
}

static void set_place(walker_regs *regs)
{
#ifdef __x86_64__
	regs->rip = CODE + regs->rip % CODE_SIZE;
	regs->rsp = STACK + regs->rsp % 4096;
	regs->cs = 0x33;
#else
	regs->pc = CODE + regs->pc % CODE_SIZE;
	regs->sp = STACK + regs->sp % 4096;
	regs->pstate = 0;
#endif
}

static void tame_rule(struct unwind_rule *rule)
{
	rule->cfa = rule->cfa % (UNWIND_PLT + 1);
	rule->cfa_register %= 8;
	rule->frame_pointer %= UNWIND_IN_REGISTER + 1;
	rule->return_address = rule->return_address % 4 ? UNWIND_AT_CFA : UNWIND_IN_REGISTER;
	rule->return_address_register %= 8;
	rule->cfa_offset = rule->cfa_offset % 16 * 8;
	rule->frame_pointer_offset = rule->frame_pointer_offset % 8 * 8;
	rule->return_address_offset = -8;
	rule->flags = rule->flags % 16 ? 0 : UNWIND_SIGNAL;
}

/* Rows that ascend, and an index that fits them. */
static void tame_words(uint32_t words[WORDS])
{
	uint32_t low = 0, *rows = words + UNWIND_INDEX_WORDS, nr = WORDS - UNWIND_INDEX_WORDS;

	for (uint32_t i = 0; i < nr; i++) {
		rows[i] = unwind_row(unwind_row_rule(rows[i]) % RULES, low);
		low += 1 + unwind_row_low(rows[i]) % 1000;
	}
	unwind_page__index(words, rows, nr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct unwind_module modules[] = {
		{.nr_pages = 2, .state = UNWIND_MODULE_LOADED}};
	static const struct unwind_page pages[] = {{.shard = 0, .last = WORDS - 1},
						   {.shard = 0, .last = WORDS - 1}};
	static const struct walker_mapping mappings[] = {
		{.start = CODE, .end = CODE + CODE_SIZE, .module = 0, .executable = true},
		{.start = OTHER,
		 .end = OTHER + 4096,
		 .module = UNWIND_NO_MODULE,
		 .executable = true},
		{.start = STACK, .end = STACK + 65536, .module = UNWIND_NO_MODULE},
	};
	uint64_t frames[STACK_SLOTS];
	struct process process;
	struct walker walker;
	struct walk_input input;
	struct walker_start start;
	enum unwind_end end;
	uint32_t nr;

	if (size < sizeof(input))
		return 0;
	memcpy(&input, data, sizeof(input));
	set_place(&input.regs);
	if (!(input.flags & ANY_RULES)) {
		for (size_t i = 0; i < RULES; i++)
			tame_rule(&input.rules[i]);
		tame_words(input.words);
	}
	process = (struct process){
		.input = &input, .stack = data + sizeof(input), .stack_size = size - sizeof(input)};
	walker = (struct walker){.modules = modules,
				 .nr_modules = 1,
				 .pages = pages,
				 .nr_pages = 2,
				 .rules = input.rules,
				 .nr_rules = RULES,
				 .shard = find_shard,
				 .shards = &process,
				 .read = read_memory,
				 .context = &process,
				 .mappings = mappings,
				 .nr_mappings = sizeof(mappings) / sizeof(mappings[0]),
				 .start_stack = input.flags & STACK_BEGINS ? STACK : 0,
				 .max_depth = MAX_FRAMES,
				 .frame_pointers = input.flags & FRAME_POINTERS};
	start = walker__start(&input.regs);
	end = walker__walk(&walker, &start, frames, &nr);
	REQUIRE(nr >= 1 && nr <= STACK_SLOTS);
	REQUIRE(end > UNWIND_GOES_ON && end < UNWIND_32BIT);
	for (uint32_t i = 0; i < nr; i++)
		check_frame(frames[i], i == nr - 1);
	REQUIRE((frame_tag(frames[nr - 1]) == FRAME_MARK) == (end >= UNWIND_CUT));
	return 0;
}
