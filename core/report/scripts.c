// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/report/scripts.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/names/frame_names.h"
#include "core/trace/stacks.h"
#include "sym/types.h"
#include "sym/util/array.h"

/* By the function of the interpreter that runs those of the script; NULL: the code has no name. */
static const struct script_kind {
	const char *loop, *help;
} kinds[] = {
	{NULL, "most samples are in generated code without names; Java: call 'jcmd PID "
	       "Compiler.perfmap' before the trace ends, and for whole stacks start it with "
	       "-XX:+PreserveFramePointer; node: start it with --perf-basic-prof"},
	{"_PyEval_EvalFrameDefault",
	 "most samples are in scripts of Python, whose functions have no names; from Python 3.12 on "
	 "'python3 -X perf' gives them names"},
	{"Perl_runops_standard",
	 "most samples are in scripts of Perl, whose functions have no names: those of the "
	 "interpreter stand for them"},
};

#define NOT_A_SCRIPT ARRAY_SIZE(kinds)

static size_t kind_of_frame(const struct sym_query *query)
{
	if (!query->name)
		return query->generated ? 0 : NOT_A_SCRIPT;
	for (size_t i = 1; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(query->name, kinds[i].loop))
			return i;
	return NOT_A_SCRIPT;
}

/* Where a runtime tells the names of some code it does so for all. */
static size_t kind_of_stack(const struct counted_stack *item, const struct frame_names *names)
{
	const struct frames *user = item->user;
	size_t kind = NOT_A_SCRIPT;

	for (uint32_t i = 0; i < user->nr; i++) {
		const struct sym_query *query;

		if (frame_tag(user->frames[i]) == FRAME_MARK)
			continue;
		query = frame_names__get(names, item, user->frames[i],
					 frame__is_return_address(user->frames[i], i));
		if (query->generated && query->name)
			return NOT_A_SCRIPT;
		if (kind == NOT_A_SCRIPT)
			kind = kind_of_frame(query);
	}
	return kind;
}

const char *scripts__help(const struct stack_counts *counts, const struct frame_names *names)
{
	uint64_t samples[ARRAY_SIZE(kinds) + 1] = {0}, all = 0;

	for (size_t i = 0; i < counts->nr; i++) {
		samples[kind_of_stack(&counts->items[i], names)] += counts->items[i].count;
		all += counts->items[i].count;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (samples[i] > all / 2)
			return kinds[i].help;
	return NULL;
}
