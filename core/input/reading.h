/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read of a file of stacks: where its stacks go, and what was not understood. */
#ifndef TRACEKIT_CORE_INPUT_READING_H
#define TRACEKIT_CORE_INPUT_READING_H

#include <stdbool.h>
#include <stdint.h>

struct flame_tree;
struct read_stack;
struct stack_filter;

#define READING_BAD_MAX	  10 /* stacks that are told */
#define READING_NOTES_MAX 4

struct reading {
	/* Set by the caller. */
	struct flame_tree *tree;
	bool before;		     /* they are of the earlier run of the tree */
	const char *sample_type;     /* which value of a pprof file is drawn; NULL: it says so */
	struct stack_filter *filter; /* which stacks are wanted; NULL: all */

	/* Set by readers. */
	const char *part;  /* what is counted where something is bad, "sample"; NULL: lines */
	char unit[64];	   /* of the weights; "": not known */
	char refused[384]; /* what is wrong with the whole file, and what to do; or "" */
	uint64_t stacks;   /* that were read, wanted or not */
	uint64_t sum;	   /* of their weights */
	uint64_t bad;	   /* that were left out */
	struct {
		uint64_t number; /* from 1 */
		const char *reason;
	} first_bad[READING_BAD_MAX];
	char notes[READING_NOTES_MAX][256]; /* about what was read */
	unsigned int nr_notes;
};

/*
 * A stack has been read: add it to the tree, if it is wanted. number: where it stands in the file.
 * One that is cut, or whose weight makes the sum too large, is bad. Returns 0 or -ENOMEM.
 */
int reading__add(struct reading *reading, const struct read_stack *stack, uint64_t weight,
		 uint64_t number);

/* Part number of the file is no stack. The reason is kept by reference. */
void reading__set_bad(struct reading *reading, uint64_t number, const char *reason);

/* The whole file is refused; the text follows its name. */
void reading__refuse(struct reading *reading, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Say something about what was read, as "3 counts have a fraction, and were rounded". */
void reading__note(struct reading *reading, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
