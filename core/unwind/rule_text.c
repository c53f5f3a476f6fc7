// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/rule_text.h"

#include <stdint.h>

#include "bpf/unwind_rule.h"
#include "core/kernel/own_processor.h"
#include "sym/util/array.h"

/* The names of registers, by their numbers of DWARF. */
static const char *register_name(uint32_t number)
{
	return number < own_processor.nr_registers ? own_processor.register_names[number] : "?";
}

/* "fp=[CFA-16]" */
static void print_saved(FILE *out, const char *what, uint32_t how, uint32_t number, int32_t offset)
{
	switch (how) {
	case UNWIND_SAME:
		break;
	case UNWIND_AT_CFA:
		fprintf(out, ", %s=[CFA%+d]", what, offset);
		break;
	case UNWIND_AT_REGISTER:
		fprintf(out, ", %s=[%s%+d]", what, register_name(number), offset);
		break;
	case UNWIND_IN_REGISTER:
		fprintf(out, ", %s=%s", what, register_name(number));
		break;
	default:
		fprintf(out, ", %s is lost", what);
	}
}

void rule_text__print(FILE *out, const struct unwind_rule *rule)
{
	static const char *const alone[] = {
		[UNWIND_NONE] = "nothing is known",
		[UNWIND_UNSUPPORTED] = "a rule of another shape",
		[UNWIND_END] = "the outermost frame",
	};
	const char *base = register_name(rule->cfa_register);

	if (rule->cfa < ARRAY_SIZE(alone)) {
		fputs(alone[rule->cfa], out);
		return;
	}
	if (rule->flags & UNWIND_SIGNAL) {
		fputs("a signal has interrupted its caller", out);
		return;
	}
	if (rule->cfa == UNWIND_MEMORY)
		fprintf(out, "CFA=[%s%+d]%+d", base, rule->cfa_offset, rule->cfa_addend);
	else if (rule->cfa == UNWIND_PLT)
		fprintf(out, "CFA=%s%+d, or 8 more from byte %d of a stub on", base,
			rule->cfa_offset, rule->cfa_addend);
	else
		fprintf(out, "CFA=%s%+d", base, rule->cfa_offset);
	print_saved(out, "ra", rule->return_address, rule->return_address_register,
		    rule->return_address_offset);
	print_saved(out, "fp", rule->frame_pointer, rule->frame_pointer_register,
		    rule->frame_pointer_offset);
	if (rule->base == UNWIND_BASE_SAME)
		fputs(", base is left alone", out);
	else if (rule->base >= UNWIND_BASE_AT_CFA)
		fprintf(out, ", base=[CFA-%d]", 8 * rule->base);
}
