// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/reading.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/flame/flame_tree.h"
#include "core/input/filter.h"
#include "core/input/stack.h"

int reading__add(struct reading *reading, const struct read_stack *stack, uint64_t weight,
		 uint64_t number)
{
	bool wanted = true;
	int err;

	if (stack->cut) {
		reading__set_bad(reading, number, "longer than 1 MB");
		return 0;
	}
	if (weight > (uint64_t)INT64_MAX - reading->sum) {
		reading__set_bad(reading, number, "its count makes the sum too large");
		return 0;
	}
	reading->stacks++;
	reading->sum += weight;
	if (reading->filter) {
		err = stack_filter__wants(reading->filter, stack->frames, stack->nr, weight,
					  &wanted);
		if (err)
			return err;
	}
	if (!wanted)
		return 0;
	return (reading->before ? flame_tree__add_before :
				  flame_tree__add)(reading->tree, stack->frames, stack->nr, weight);
}

void reading__set_bad(struct reading *reading, uint64_t number, const char *reason)
{
	if (reading->bad < READING_BAD_MAX) {
		reading->first_bad[reading->bad].number = number;
		reading->first_bad[reading->bad].reason = reason;
	}
	reading->bad++;
}

void reading__refuse(struct reading *reading, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reading->refused, sizeof(reading->refused), format, args);
	va_end(args);
	reading->bad = reading->nr_notes = 0; /* that goes without saying */
}

void reading__note(struct reading *reading, const char *format, ...)
{
	va_list args;

	if (reading->nr_notes == READING_NOTES_MAX)
		return;
	va_start(args, format);
	vsnprintf(reading->notes[reading->nr_notes++], sizeof(reading->notes[0]), format, args);
	va_end(args);
}
