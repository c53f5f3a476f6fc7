// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/cfi/program.h"

#include <dwarf.h>
#include <elf.h>

#include "sym/cfi/expression.h"
#include "sym/elf/byte_reader.h"
#include "sym/elf/processor.h"
#include "sym/elf/work.h"

/* Remembered states: compilers have one at a time. */
#define REMEMBERED_MAX 16

/* DWARF for the Arm 64-bit Architecture, 5.2; the libraries' headers do not have it yet. */
#define CFA_AARCH64_NEGATE_RA_STATE_WITH_PC 0x2c

/* Instructions that a unit of work pays for. */
#define INSTRUCTIONS_PER_WORK 16

bool cfi__needs_base(const struct processor *processor, const struct unwind_rule *rule)
{
	return processor->base != NO_REGISTER && rule->cfa > UNWIND_END &&
	       (rule->cfa_register == processor->base ||
		(rule->return_address == UNWIND_AT_REGISTER &&
		 rule->return_address_register == processor->base) ||
		(rule->frame_pointer == UNWIND_AT_REGISTER &&
		 rule->frame_pointer_register == processor->base));
}

/* ---- states ---- */

struct cfa {
	enum unwind_cfa kind;
	uint64_t reg;
	int64_t offset, addend;
};

struct state {
	struct cfa cfa;
	struct cfi_place stack_pointer; /* UNWIND_SAME: it is the CFA, as it is by default */
	struct cfi_place frame_pointer, return_address;
	struct cfi_place base;
};

struct run {
	const struct cfi_program *program;
	struct state state, initial;
	struct state remembered[REMEMBERED_MAX];
	size_t nr_remembered;
	uint64_t address;
	bool failed; /* from here on nothing is known */
};

static const struct unwind_rule unsupported = {.cfa = UNWIND_UNSUPPORTED};

/* False if the place does not fit. */
static bool put_place(const struct cfi_place *place, uint8_t *kind, uint8_t *reg, int32_t *offset)
{
	if (place->offset != (int32_t)place->offset || place->reg > UINT8_MAX)
		return false;
	*kind = (uint8_t)place->kind;
	*reg = (uint8_t)place->reg;
	*offset = (int32_t)place->offset;
	return true;
}

/* The base register is lost where rules cannot say where it is. */
static uint8_t base_of(const struct processor *processor, const struct cfi_place *place)
{
	const int64_t word = sizeof(uint64_t);

	if (processor->base == NO_REGISTER)
		return UNWIND_BASE_LOST;
	if (place->kind == UNWIND_SAME)
		return UNWIND_BASE_SAME;
	if (place->kind != UNWIND_AT_CFA || place->offset % word ||
	    place->offset > -UNWIND_BASE_AT_CFA * word || place->offset < -UINT8_MAX * word)
		return UNWIND_BASE_LOST;
	return (uint8_t)(-place->offset / word);
}

/*
 * True if a walk may take the CFA for the caller's stack pointer. It may not where a context is
 * switched, as in longjmp(): the registers are another frame's there.
 */
static bool is_stack_pointer_cfa(const struct state *state)
{
	const struct cfi_place *place = &state->stack_pointer;
	const struct cfa *cfa = &state->cfa;

	/* Signal frames say it twice: the word there is the CFA, too. */
	if (place->kind == UNWIND_AT_REGISTER)
		return cfa->kind == UNWIND_MEMORY && cfa->reg == place->reg &&
		       cfa->offset == place->offset && cfa->addend == 0;
	return place->kind == UNWIND_SAME;
}

/* No return address means no caller: the outermost function says so. */
static struct unwind_rule rule_of(const struct run *run)
{
	const struct state *state = &run->state;
	struct unwind_rule rule = {
		.cfa = (uint8_t)state->cfa.kind,
		.cfa_register = (uint8_t)state->cfa.reg,
		.flags = run->program->is_signal_frame ? UNWIND_SIGNAL : 0,
		.base = base_of(run->program->processor, &state->base),
		.cfa_offset = (int32_t)state->cfa.offset,
		.cfa_addend = (int32_t)state->cfa.addend,
	};

	if (run->failed)
		return unsupported;
	if (state->return_address.kind == UNWIND_LOST && !state->return_address.is_unknown)
		return (struct unwind_rule){.cfa = UNWIND_END};
	if (state->cfa.kind <= UNWIND_END || state->cfa.reg > UINT8_MAX ||
	    state->cfa.offset != rule.cfa_offset || state->cfa.addend != rule.cfa_addend ||
	    state->return_address.is_unknown || !is_stack_pointer_cfa(state) ||
	    !put_place(&state->return_address, &rule.return_address, &rule.return_address_register,
		       &rule.return_address_offset))
		return unsupported;
	/* Where nothing has been said of it yet, it is where the call has put it. */
	if (rule.return_address == UNWIND_SAME) {
		rule.return_address = UNWIND_IN_REGISTER;
		rule.return_address_register = (uint8_t)run->program->return_address;
	}
	/* Callers that need the frame pointer are told that it is lost. */
	if (!put_place(&state->frame_pointer, &rule.frame_pointer, &rule.frame_pointer_register,
		       &rule.frame_pointer_offset))
		rule.frame_pointer = UNWIND_LOST;
	return rule;
}

/* ---- instructions ---- */

/* The place of a column, in one of run's states; NULL if it is not kept. */
static struct cfi_place *place_in(const struct run *run, struct state *state, uint64_t reg)
{
	if (reg == run->program->return_address)
		return &state->return_address;
	if (reg == run->program->processor->frame_pointer)
		return &state->frame_pointer;
	if (reg == run->program->processor->stack_pointer)
		return &state->stack_pointer;
	if (reg == run->program->processor->base)
		return &state->base;
	return NULL;
}

static void set_place(struct run *run, uint64_t reg, struct cfi_place place)
{
	struct cfi_place *column = place_in(run, &run->state, reg);

	if (column)
		*column = place;
}

/* The place has a shape that rules do not have. */
static void set_unknown(struct run *run, uint64_t reg)
{
	set_place(run, reg, (struct cfi_place){.kind = UNWIND_LOST, .is_unknown = true});
}

static void restore(struct run *run, uint64_t reg)
{
	const struct cfi_place *initial = place_in(run, &run->initial, reg);

	if (initial)
		set_place(run, reg, *initial);
}

/* Turn an offset in units of the data alignment into bytes. */
static int64_t factored_offset(struct run *run, int64_t factored)
{
	int64_t offset;

	if (__builtin_mul_overflow(factored, run->program->data_alignment, &offset)) {
		run->failed = true;
		return 0;
	}
	return offset;
}

static void set_at_cfa(struct run *run, uint64_t reg, int64_t factored)
{
	set_place(run, reg,
		  (struct cfi_place){.kind = UNWIND_AT_CFA,
				     .offset = factored_offset(run, factored)});
}

/* The value is CFA + offset. The stack pointer is CFA + 0 without being set, too. */
static void set_value(struct run *run, uint64_t reg, int64_t offset)
{
	if (reg == run->program->processor->stack_pointer && offset == 0)
		set_place(run, reg, (struct cfi_place){.kind = UNWIND_SAME});
	else
		set_unknown(run, reg);
}

static void set_cfa(struct run *run, uint64_t reg, int64_t offset)
{
	run->state.cfa = (struct cfa){.kind = UNWIND_REGISTER, .reg = reg, .offset = offset};
}

/* The CFA was a register and an offset before, or the instruction makes no sense. */
static void change_cfa(struct run *run, uint64_t reg, int64_t offset)
{
	if (run->state.cfa.kind != UNWIND_REGISTER)
		run->failed = true;
	else
		set_cfa(run, reg, offset);
}

static struct cfi_bytes read_block(struct byte_reader *reader)
{
	uint64_t size = byte_reader__uleb(reader);
	struct cfi_bytes block = {.bytes = reader->at};

	byte_reader__skip(reader, size);
	block.size = reader->failed ? 0 : (size_t)size;
	return block;
}

static void set_cfa_expression(struct run *run, struct cfi_bytes expression)
{
	struct cfi_value value = cfi_expression__read(run->program->processor, expression);

	run->state.cfa = (struct cfa){.kind = value.kind,
				      .reg = value.reg,
				      .offset = value.offset,
				      .addend = value.addend};
}

/* Set the place of a register, if it is a register and an offset. */
static void set_expression(struct run *run, uint64_t reg, struct cfi_bytes expression)
{
	struct cfi_value value = cfi_expression__read(run->program->processor, expression);

	if (value.kind == UNWIND_REGISTER)
		set_place(run, reg,
			  (struct cfi_place){.kind = UNWIND_AT_REGISTER,
					     .reg = value.reg,
					     .offset = value.offset});
	else
		set_unknown(run, reg);
}

static void remember_state(struct run *run)
{
	if (run->nr_remembered == REMEMBERED_MAX)
		run->failed = true;
	else
		run->remembered[run->nr_remembered++] = run->state;
}

static void restore_state(struct run *run)
{
	if (run->nr_remembered == 0)
		run->failed = true;
	else
		run->state = run->remembered[--run->nr_remembered];
}

/* Run an instruction with an operand in its own byte; false: it is none of these. */
static bool run_packed(struct run *run, unsigned char instruction, struct byte_reader *reader)
{
	uint64_t operand = instruction & 0x3f;

	switch (instruction & 0xc0) {
	case DW_CFA_offset:
		set_at_cfa(run, operand, (int64_t)byte_reader__uleb(reader));
		return true;
	case DW_CFA_restore:
		restore(run, operand);
		return true;
	default:
		return false;
	}
}

/* Run an instruction on a register, and what follows it. */
static void run_register(struct run *run, unsigned char instruction, struct byte_reader *reader)
{
	uint64_t reg = byte_reader__uleb(reader);

	switch (instruction) {
	case DW_CFA_offset_extended:
		set_at_cfa(run, reg, (int64_t)byte_reader__uleb(reader));
		break;
	case DW_CFA_offset_extended_sf:
		set_at_cfa(run, reg, byte_reader__sleb(reader));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		set_at_cfa(run, reg, (int64_t)-byte_reader__uleb(reader));
		break;
	case DW_CFA_restore_extended:
		restore(run, reg);
		break;
	case DW_CFA_undefined:
		set_place(run, reg, (struct cfi_place){.kind = UNWIND_LOST});
		break;
	case DW_CFA_same_value:
		set_place(run, reg, (struct cfi_place){.kind = UNWIND_SAME});
		break;
	case DW_CFA_register:
		set_place(run, reg,
			  (struct cfi_place){.kind = UNWIND_IN_REGISTER,
					     .reg = byte_reader__uleb(reader)});
		break;
	case DW_CFA_expression:
		set_expression(run, reg, read_block(reader));
		break;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf: /* 0 is the same in both */
		set_value(run, reg, (int64_t)byte_reader__uleb(reader));
		break;
	case DW_CFA_val_expression:
		read_block(reader);
		set_unknown(run, reg);
		break;
	case DW_CFA_def_cfa:
		set_cfa(run, reg, (int64_t)byte_reader__uleb(reader));
		break;
	case DW_CFA_def_cfa_sf:
		set_cfa(run, reg, factored_offset(run, byte_reader__sleb(reader)));
		break;
	case DW_CFA_def_cfa_register:
		change_cfa(run, reg, run->state.cfa.offset);
		break;
	default:
		run->failed = true;
	}
}

static void run_one(struct run *run, unsigned char instruction, struct byte_reader *reader)
{
	switch (instruction) {
	case DW_CFA_nop:
		break;
	case DW_CFA_remember_state:
		remember_state(run);
		break;
	case DW_CFA_restore_state:
		restore_state(run);
		break;
	case DW_CFA_def_cfa_offset:
		change_cfa(run, run->state.cfa.reg, (int64_t)byte_reader__uleb(reader));
		break;
	case DW_CFA_def_cfa_offset_sf:
		change_cfa(run, run->state.cfa.reg,
			   factored_offset(run, byte_reader__sleb(reader)));
		break;
	case DW_CFA_def_cfa_expression:
		set_cfa_expression(run, read_block(reader));
		break;
	case DW_CFA_GNU_args_size:
		byte_reader__uleb(reader);
		break;
	/*
	 * From here on the return address is signed, or not signed any more: walks take the
	 * signature, if there is one, away from all.
	 */
	case DW_CFA_AARCH64_negate_ra_state: /* DW_CFA_GNU_window_save of SPARC */
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		run->failed |= !run->program->processor->signs_return_addresses;
		break;
	default:
		run_register(run, instruction, reader);
	}
}

/* How far an instruction moves, in units of the code alignment; false: it does not. */
static bool read_advance(unsigned char instruction, struct byte_reader *reader, uint64_t *units)
{
	if ((instruction & 0xc0) == DW_CFA_advance_loc)
		*units = instruction & 0x3f;
	else if (instruction == DW_CFA_advance_loc1)
		*units = byte_reader__number(reader, 1);
	else if (instruction == DW_CFA_advance_loc2)
		*units = byte_reader__number(reader, 2);
	else if (instruction == DW_CFA_advance_loc4)
		*units = byte_reader__number(reader, 4);
	else
		return false;
	return true;
}

/* Rows at one address become one; the instructions of the CIE have no address yet. */
static int run_all(struct run *run, struct cfi_bytes bytes, const struct work *work,
		   cfi_visit visit, void *context)
{
	struct byte_reader reader = {.at = bytes.bytes, .end = bytes.bytes + bytes.size};
	const struct cfi_program *program = run->program;
	uint64_t done = 0;

	while (reader.at < reader.end && !run->failed) {
		unsigned char instruction = (unsigned char)byte_reader__number(&reader, 1);
		struct unwind_rule rule;
		uint64_t units, distance;
		int err;

		if (++done % INSTRUCTIONS_PER_WORK == 0)
			work__charge(work, 1);
		if (!read_advance(instruction, &reader, &units)) {
			if (!run_packed(run, instruction, &reader))
				run_one(run, instruction, &reader);
			run->failed |= reader.failed || !work__is_left(work);
			continue;
		}
		if (reader.failed || !visit ||
		    __builtin_mul_overflow(units, program->code_alignment, &distance)) {
			run->failed = true;
			break;
		}
		if (distance == 0)
			continue;
		if (distance >= program->end - run->address)
			break; /* what follows is behind the end */
		rule = rule_of(run);
		err = visit(context, run->address, &rule);
		if (err)
			return err;
		run->address += distance;
	}
	return 0;
}

int cfi_program__run(const struct cfi_program *program, const struct work *work, cfi_visit visit,
		     void *context)
{
	struct run run = {.program = program, .address = program->start};
	struct unwind_rule rule;
	int err;

	if (program->start >= program->end)
		return 0;
	run.state.return_address.kind =
		program->processor->has_return_register ? UNWIND_SAME : UNWIND_LOST;
	work__charge(work, 1);
	(void)run_all(&run, program->initial, work, NULL, NULL);
	run.initial = run.state;
	err = run_all(&run, program->instructions, work, visit, context);
	if (err)
		return err;
	rule = rule_of(&run);
	return visit(context, run.address, &rule);
}
