// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/format/format.h"
#include "core/trace/stacks.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/number.h"
#include "sym/util/text.h"
#include "sym/util/text_set.h"

static void add(struct stack_totals *sum, const struct counted_stack *item)
{
	sum->count += item->count;
	sum->weight += item->weight;
}

struct stack_totals shown_stacks__totals(const struct shown_stacks *shown)
{
	struct stack_totals sum = {0};

	for (size_t i = 0; i < shown->counts->nr; i++)
		add(&sum, &shown->counts->items[i]);
	return sum;
}

static uint64_t amount(const struct shown_stacks *shown, struct stack_totals totals)
{
	return shown_stacks__have_weights(shown) ? totals.weight : totals.count;
}

double shown_stacks__percent(const struct shown_stacks *shown, struct stack_totals part,
			     struct stack_totals all)
{
	uint64_t whole = amount(shown, all);

	return whole ? 100.0 * (double)amount(shown, part) / (double)whole : 0;
}

/* ---- the functions of a stack, the innermost first ---- */

struct way_out {
	const struct shown_stacks *shown;
	const struct counted_stack *item;
	uint32_t frame; /* the next one, of the kernel's first and then of the program's */
	uint32_t level;
};

/* Write the next function; false: there is none. Marks are none. */
static bool next_function(struct way_out *way, char name[FRAME_NAME_MAX])
{
	const struct counted_stack *item = way->item;

	while (way->frame < item->kernel->nr + item->user->nr) {
		bool in_kernel = way->frame < item->kernel->nr;
		const struct frames *frames = in_kernel ? item->kernel : item->user;
		uint32_t i = in_kernel ? way->frame : way->frame - item->kernel->nr;
		const struct sym_query *query = shown_stacks__answer(way->shown, item, frames, i);
		uint32_t level = way->level++;
		enum frame_kind kind;

		if (level >= frame_text__levels(frames->frames[i], query)) {
			way->frame++;
			way->level = 0;
			continue;
		}
		kind = frame_text__kind(frames->frames[i], query, level);
		if (kind == FRAME_IS_MARK)
			continue;
		if (kind == FRAME_IS_INLINED)
			frame_text__call(&query->inlined[level], name);
		else
			frame_text__function(query, in_kernel, name);
		return true;
	}
	return false;
}

/* The program's own innermost function, where the kernel does not come first by itself. */
#define OF_PROGRAM UINT32_MAX

/* Write function number, or the outermost if there are fewer; false: there is none. */
static bool function_at(const struct shown_stacks *shown, const struct counted_stack *item,
			uint32_t number, char name[FRAME_NAME_MAX])
{
	bool skips_kernel = number == OF_PROGRAM && item->user->nr;
	struct way_out way = {
		.shown = shown,
		.item = item,
		.frame = skips_kernel ? item->kernel->nr : item->hidden,
	};
	bool found = next_function(&way, name);

	for (; found && number != OF_PROGRAM && number > 0 && next_function(&way, name); number--)
		;
	return found;
}

/* ---- the top ---- */

struct function_totals {
	struct text_set names;
	struct stack_totals *totals; /* by number of the name */
	size_t nr, capacity;
};

static void function_totals__release(struct function_totals *functions)
{
	text_set__release(&functions->names);
	free(functions->totals);
}

static int add_stack(struct function_totals *functions, const char *name,
		     const struct counted_stack *item)
{
	uint32_t number;

	if (text_set__add(&functions->names, name, &number) ||
	    (number == functions->nr &&
	     ARRAY_GROW(functions->totals, functions->nr, functions->capacity)))
		return -ENOMEM;
	if (number == functions->nr)
		functions->totals[functions->nr++] = (struct stack_totals){0};
	add(&functions->totals[number], item);
	return 0;
}

/* The function that has most, of those at number in their stacks. */
static int find_top(const struct shown_stacks *shown, uint32_t number, char name[FRAME_NAME_MAX],
		    struct stack_totals *top)
{
	CLEANUP(function_totals__release) struct function_totals functions = {0};
	size_t most = 0;

	for (size_t i = 0; i < shown->counts->nr; i++) {
		const struct counted_stack *item = &shown->counts->items[i];

		if (function_at(shown, item, number, name) && add_stack(&functions, name, item))
			return -ENOMEM;
	}
	for (size_t i = 1; i < functions.nr; i++)
		if (amount(shown, functions.totals[i]) > amount(shown, functions.totals[most]))
			most = i;
	snprintf(name, FRAME_NAME_MAX, "%s", functions.nr ? functions.names.texts[most] : "");
	*top = functions.nr ? functions.totals[most] : (struct stack_totals){0};
	return 0;
}

/*
 * All threads wait in "schedule", all calls of malloc() are in it: from such a function, which says
 * nothing, the way goes on to its callers, but not for ever.
 */
#define SAYS_NOTHING 90 /* per cent */
#define CALLERS_MAX  16

int shown_stacks__top(const struct shown_stacks *shown, char name[FRAME_NAME_MAX],
		      struct stack_totals *top)
{
	struct stack_totals all = shown_stacks__totals(shown);
	uint32_t callers = shown->samples ? 1 : CALLERS_MAX;

	for (uint32_t number = 0; number < callers; number++) {
		int err = find_top(shown, number, name, top);

		if (err || shown->samples || shown_stacks__percent(shown, *top, all) < SAYS_NOTHING)
			return err;
	}
	return find_top(shown, OF_PROGRAM, name, top);
}

/* ---- what is said ---- */

void shown_stacks__write_totals(const struct shown_stacks *shown, struct stack_totals totals,
				char *text, size_t size)
{
	char time[64] = "";

	if (shown_stacks__have_weights(shown))
		snprintf(time, sizeof(time), "%.3f s in ", (double)totals.weight / NANOSECONDS);
	snprintf(text, size, "%s%" PRIu64 " %.*s", time, totals.count,
		 (int)strlen(shown->unit) - (totals.count == 1), shown->unit);
}

void shown_stacks__describe(const struct shown_stacks *shown, char *text, size_t size)
{
	struct stack_totals all = shown_stacks__totals(shown), top;
	char name[FRAME_NAME_MAX], totals[128], most[256] = "";
	size_t stacks = shown->counts->nr;

	shown_stacks__write_totals(shown, all, totals, sizeof(totals));
	if (!shown_stacks__top(shown, name, &top) && name[0])
		snprintf(most, sizeof(most), "; %.1f%% in %.200s",
			 shown_stacks__percent(shown, top, all), name);
	snprintf(text, size, "%s, %zu stack%s%s", totals, stacks, stacks == 1 ? "" : "s", most);
}
