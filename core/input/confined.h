/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work with what anyone may have written, done by a child in the sandbox (sym/child/sandbox.h): it
 * has its inputs, and files in memory for what it makes of them. Only when it has ended well its
 * parent writes that to where the user wants it.
 */
#ifndef TRACEKIT_CORE_INPUT_CONFINED_H
#define TRACEKIT_CORE_INPUT_CONFINED_H

#include <stddef.h>
#include <stdio.h>

struct error;

#define CONFINED_INPUTS_MAX 2

/*
 * What the child has made. -1: none. Its stdout and its result are two files, since it can make a
 * table and a picture.
 */
struct confined {
	int out, result;
};

#define CONFINED_NONE                                                                              \
	{                                                                                          \
		.out = -1, .result = -1                                                            \
	}

/* In the child: the descriptor of input i. */
int confined__input(size_t i);

/* In the child: its result as a stream, to be opened once and closed; NULL: out of memory. */
FILE *confined__open_result(void);

/* What the child does. */
struct confined_work {
	/*
	 * Returns 0; 1 if it has results, but has said that they are not all; or a negative errno
	 * with error filled, or left empty.
	 */
	int (*run)(const void *argument, struct error *error);
	const void *argument;
	const int *inputs; /* they stay open here */
	size_t nr_inputs;  /* 1 or 2 */
};

/*
 * Have a child work. What it says on stderr appears when it has ended. Returns 0 or 1 as run()
 * does, or a negative errno with error filled, or empty if the child has said it; either way
 * confined__release() is due.
 */
int confined__run(struct confined *confined, const struct confined_work *work, struct error *error);

/* Copy one of its files to a stream, whose errors stay in it. Returns 0 or a negative errno. */
int confined__copy(int fd, FILE *to);
void confined__release(struct confined *confined);

#endif
