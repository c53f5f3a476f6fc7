// SPDX-License-Identifier: GPL-2.0-or-later
/* The other half of sym/dwarf/lines.h: the program that makes the rows of the table. */
#include <dwarf.h>

#include "sym/dwarf/lines.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"

/* Instructions that a unit of work pays for. */
#define INSTRUCTIONS_PER_WORK 16

struct row_state {
	uint64_t address, file;
	uint64_t line;
};

/*
 * A row holds for the addresses up to the next row of its sequence. Within a sequence they ascend,
 * so that wanted stays where it is unless another sequence begins.
 */
struct run {
	const struct debug_lines *lines;
	struct debug_row *rows;
	size_t nr;
	size_t wanted; /* the first row not below the address of the last one */
	struct row_state state, last;
	bool in_sequence; /* last is a row of it */
	bool is_dropped;  /* it begins at 0: the linker dropped the function */
};

static void reset(struct run *run)
{
	run->state = (struct row_state){.file = 1, .line = 1};
	run->in_sequence = false;
}

/* The last row holds for wanted addresses in front of end. */
static void settle(struct run *run, uint64_t end)
{
	const struct row_state *last = &run->last;

	for (; run->wanted < run->nr && run->rows[run->wanted].address < end; run->wanted++) {
		struct debug_row *row = &run->rows[run->wanted];

		/* If sequences overlap, the first is as good as any. */
		if (row->found)
			continue;
		row->file = last->file;
		row->line = last->line <= UINT32_MAX ? (uint32_t)last->line : 0;
		row->found = true;
	}
}

static void emit_row(struct run *run)
{
	if (!run->in_sequence)
		run->is_dropped = run->state.address == 0;
	if (!run->is_dropped) {
		if (run->in_sequence && run->state.address >= run->last.address)
			settle(run, run->state.address);
		else
			run->wanted = array__lower_bound(run->rows, run->nr, sizeof(*run->rows),
							 run->state.address);
	}
	run->in_sequence = true;
	run->last = run->state;
}

static void end_sequence(struct run *run)
{
	if (run->in_sequence && !run->is_dropped && run->state.address >= run->last.address)
		settle(run, run->state.address);
	reset(run);
}

static void advance(struct run *run, uint64_t operations)
{
	run->state.address += operations * run->lines->min_instruction_length;
}

static void run_extended(struct run *run, struct byte_reader *program)
{
	uint64_t length = byte_reader__uleb(program);
	struct byte_reader operands;

	if (length == 0 || length > byte_reader__left(program)) {
		byte_reader__fail(program);
		return;
	}
	operands = (struct byte_reader){.at = program->at, .end = program->at + length};
	program->at += length;
	switch (byte_reader__number(&operands, 1)) {
	case DW_LNE_end_sequence:
		end_sequence(run);
		break;
	case DW_LNE_set_address:
		run->state.address = byte_reader__number(&operands, length - 1);
		break;
	default: /* define_file was never used; what is not known is skipped */
		break;
	}
}

static void run_standard(struct run *run, struct byte_reader *program, unsigned int opcode)
{
	const struct debug_lines *lines = run->lines;

	switch (opcode) {
	case DW_LNS_copy:
		emit_row(run);
		break;
	case DW_LNS_advance_pc:
		advance(run, byte_reader__uleb(program));
		break;
	case DW_LNS_advance_line:
		run->state.line += (uint64_t)byte_reader__sleb(program);
		break;
	case DW_LNS_set_file:
		run->state.file = byte_reader__uleb(program);
		break;
	case DW_LNS_const_add_pc:
		advance(run, (255 - lines->opcode_base) / lines->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		run->state.address += byte_reader__number(program, 2);
		break;
	default:
		for (int i = lines->opcode_lengths[opcode - 1]; i > 0; i--)
			byte_reader__uleb(program);
	}
}

static void run_special(struct run *run, unsigned int opcode)
{
	const struct debug_lines *lines = run->lines;
	unsigned int number = opcode - lines->opcode_base;

	advance(run, number / lines->line_range);
	run->state.line += (uint64_t)(int64_t)lines->line_base + number % lines->line_range;
	emit_row(run);
}

void debug_lines__find(const struct debug_lines *lines, struct debug_row *rows, size_t nr,
		       const struct work *work)
{
	struct byte_reader program = lines->program;
	struct run run = {.lines = lines, .rows = rows, .nr = nr};
	unsigned int done = 0;

	reset(&run);
	while (byte_reader__left(&program)) {
		unsigned int opcode = *program.at++;

		if (++done == INSTRUCTIONS_PER_WORK) {
			if (!work__is_left(work))
				break;
			work__charge(work, 1);
			done = 0;
		}
		if (opcode >= lines->opcode_base)
			run_special(&run, opcode);
		else if (opcode == 0)
			run_extended(&run, &program);
		else
			run_standard(&run, &program, opcode);
	}
}
