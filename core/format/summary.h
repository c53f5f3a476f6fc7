/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What counted stacks come to: their sum, and the function with most of it. */
#ifndef TRACEKIT_CORE_FORMAT_SUMMARY_H
#define TRACEKIT_CORE_FORMAT_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "core/report/frame_text.h"

struct counted_stack;
struct shown_stacks;

struct stack_totals {
	uint64_t count;	 /* events */
	uint64_t weight; /* nanoseconds, where events last */
};

struct stack_totals shown_stacks__totals(const struct shown_stacks *shown);

/* The share of a part of them in per cent: of the time where events last, else of the number. */
double shown_stacks__percent(const struct shown_stacks *shown, struct stack_totals part,
			     struct stack_totals all);

/*
 * The function with most of all events or time: of samples the innermost. Other events have their
 * place, and nearly all stacks begin with the same functions: then the first that says more; if
 * none does, that of the program which called the kernel, or else the innermost. "" if no stack has
 * a function. Returns 0 or -ENOMEM.
 */
int shown_stacks__top(const struct shown_stacks *shown, char name[FRAME_NAME_MAX],
		      struct stack_totals *top);

/* "490 samples", "12.345 s in 1 wait": write totals, cut to size bytes with a NUL. */
void shown_stacks__write_totals(const struct shown_stacks *shown, struct stack_totals totals,
				char *text, size_t size);

/*
 * Write what they are in one line: "490 samples, 12 stacks; 25.1% in vfs_read", cut to size bytes
 * with a NUL. The last part is missing where there is no memory for it.
 */
void shown_stacks__describe(const struct shown_stacks *shown, char *text, size_t size);

#endif
