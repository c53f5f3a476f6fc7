/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counted stacks as text: stacks in lines, or folded for flame graphs. */
#ifndef TRACEKIT_CORE_REPORT_OUTPUT_H
#define TRACEKIT_CORE_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/report/frame_text.h"

struct counted_stack;
struct error;
struct frame_names;
struct stack_counts;

/* What differs between applets in text output. */
struct stack_layout {
	const char *frame_indent;
	const char *count_indent;
	/* The line that names the process, from a comm that is safe to print. */
	void (*print_process)(FILE *out, const char *comm, uint32_t tgid);
	bool delimits_always; /* with delimited: also where one of the stacks is empty */
};

struct stack_writer {
	FILE *out;
	const struct stack_layout *layout;
	const struct frame_names *names;
	bool comms;	/* keys have a comm; folded lines begin with it */
	bool processes; /* print the line that names the process */
	bool delimited; /* mark the border of kernel and user frames, where there are both */
	struct frame_style style; /* verbose: with addresses, too, but in folded lines */
};

/* All of counts, in their order. Errors stay in the FILE: see output__flush(). */
void stack_writer__print(const struct stack_writer *writer, const struct stack_counts *counts);

/* 0, or -EBADF if out was never open for writing: the shell's >&- */
int output__check(FILE *out);

/* Write out what is buffered; 0, or the negative errno of this or an earlier write. */
int output__flush(FILE *out);

/*
 * What a failure of output__flush() means to the user: a full disk is said, a
 * reader that has gone (-EPIPE, or -EBADF for a stdout that was never open) is
 * not: then error is left empty. Returns code.
 */
int output__failed(int code, struct error *error);

/* Both of these: 0, or a negative errno with error filled as by output__failed(). */
int output__finish(FILE *out, struct error *error);

#endif
