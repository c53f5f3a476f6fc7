// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/cfi/expression.h"

#include <dwarf.h>

#include "sym/elf/byte_reader.h"
#include "sym/elf/processor.h"

static const struct cfi_value unsupported = {.kind = UNWIND_UNSUPPORTED};

/* breg: its register, and the offset that follows. */
static bool read_register(struct byte_reader *reader, struct cfi_value *value)
{
	unsigned char operation = (unsigned char)byte_reader__number(reader, 1);

	if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31)
		value->reg = operation - DW_OP_breg0;
	else if (operation == DW_OP_bregx)
		value->reg = byte_reader__uleb(reader);
	else
		return false;
	value->kind = UNWIND_REGISTER;
	value->offset = byte_reader__sleb(reader);
	return !reader->failed;
}

/* A constant that is pushed. */
static bool read_constant(struct byte_reader *reader, unsigned char operation, int64_t *number)
{
	if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31)
		*number = operation - DW_OP_lit0;
	else if (operation == DW_OP_const1u)
		*number = (int64_t)byte_reader__number(reader, 1);
	else if (operation == DW_OP_const1s)
		*number = (int8_t)byte_reader__number(reader, 1);
	else if (operation == DW_OP_const2u)
		*number = (int64_t)byte_reader__number(reader, 2);
	else if (operation == DW_OP_const2s)
		*number = (int16_t)byte_reader__number(reader, 2);
	else if (operation == DW_OP_const4u)
		*number = (int64_t)byte_reader__number(reader, 4);
	else if (operation == DW_OP_const4s)
		*number = (int32_t)byte_reader__number(reader, 4);
	else
		return false;
	return !reader->failed;
}

static void add(struct cfi_value *value, int64_t number)
{
	int64_t *sum = value->kind == UNWIND_MEMORY ? &value->addend : &value->offset;

	if (__builtin_add_overflow(*sum, number, sum))
		*value = unsupported;
}

/* Apply an operation to the value; false: it has no known shape. */
static bool apply(struct byte_reader *reader, struct cfi_value *value)
{
	unsigned char operation = (unsigned char)byte_reader__number(reader, 1);
	int64_t number;

	if (operation == DW_OP_deref && value->kind == UNWIND_REGISTER) {
		value->kind = UNWIND_MEMORY;
		return true;
	}
	if (operation == DW_OP_plus_uconst) {
		add(value, (int64_t)byte_reader__uleb(reader));
		return !reader->failed;
	}
	if (!read_constant(reader, operation, &number))
		return false;
	operation = (unsigned char)byte_reader__number(reader, 1);
	if (reader->failed || (operation != DW_OP_plus && operation != DW_OP_minus))
		return false;
	add(value, operation == DW_OP_plus ? number : -number);
	return true;
}

/*
 * The expression that linkers write for .plt: breg7 (rsp) 8; breg16 (rip) 0; lit15; and; litN; ge;
 * lit3; shl; plus.
 */
static bool read_plt(const struct processor *processor, struct cfi_bytes bytes,
		     struct cfi_value *value)
{
	struct byte_reader reader = {.at = bytes.bytes, .end = bytes.bytes + bytes.size};
	static const unsigned char before[] = {DW_OP_lit15, DW_OP_and};
	static const unsigned char behind[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	struct cfi_value pc;
	int64_t threshold;

	if (!read_register(&reader, value) || value->reg != processor->stack_pointer ||
	    !read_register(&reader, &pc) || pc.reg != processor->program_counter || pc.offset)
		return false;
	for (size_t i = 0; i < sizeof(before); i++)
		if (byte_reader__number(&reader, 1) != before[i])
			return false;
	if (!read_constant(&reader, (unsigned char)byte_reader__number(&reader, 1), &threshold))
		return false;
	for (size_t i = 0; i < sizeof(behind); i++)
		if (byte_reader__number(&reader, 1) != behind[i])
			return false;
	value->kind = UNWIND_PLT;
	value->addend = threshold;
	return !reader.failed && reader.at == reader.end;
}

struct cfi_value cfi_expression__read(const struct processor *processor, struct cfi_bytes bytes)
{
	struct byte_reader reader = {.at = bytes.bytes, .end = bytes.bytes + bytes.size};
	struct cfi_value value = {0}, plt = {0};

	if (read_plt(processor, bytes, &plt))
		return plt;
	if (!read_register(&reader, &value))
		return unsupported;
	while (reader.at < reader.end)
		if (!apply(&reader, &value))
			return unsupported;
	return value;
}
