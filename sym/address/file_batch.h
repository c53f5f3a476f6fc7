/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions about addresses in files, collected, so that each file is read once for all
 * processes that have mapped it.
 */
#ifndef TRACEKIT_SYM_ADDRESS_FILE_BATCH_H
#define TRACEKIT_SYM_ADDRESS_FILE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/address/file_names.h"

struct file_places;
struct sym_query;

/* An address in a file, and the query that wants it. */
struct file_question {
	size_t file; /* index into the files of the batch */
	uint64_t address;
	struct sym_query *query;
};

/* The root of processes; open as long as files are told apart by it. */
struct batch_root {
	struct root_identity identity;
	int fd; /* or ROOTED_OURS */
};

/* All zero but the caller is empty. */
struct file_batch {
	struct batch_root *roots;
	size_t nr_roots, roots_capacity;
	struct sym_file *files;
	size_t nr_files, files_capacity;
	struct file_question *questions;
	size_t nr_questions, questions_capacity;
	const struct user_namer_caller *caller; /* see sym/address/user_namer.h */
};

/*
 * The root of a process; task is a thread of it, or 0: see rooted__root_of(). Returns 0 or an error
 * of that function.
 */
int file_batch__root(struct file_batch *batch, pid_t task, struct batch_root *root);

/*
 * Add file, of which the identity and the headers are not yet read. Takes over its descriptor; its
 * path is copied. *index becomes its index in the batch; an equal file that is there already serves
 * for it. Returns 0 or a negative errno.
 */
int file_batch__add(struct file_batch *batch, const struct sym_file *file, struct arena *paths,
		    size_t *index);

/* Ask about a query; its address is an offset in the file when shift is added. 0 or -ENOMEM. */
int file_batch__ask(struct file_batch *batch, size_t file, uint64_t shift, struct sym_query *query);

/*
 * Answer all questions so far: first the names, then inlined calls and source lines, which can take
 * long. The caller is told of each query, and again if there is more to say about it. Both return 0
 * or -ENOMEM.
 */
int file_batch__answer_names(struct file_batch *batch, struct file_names *names);
int file_batch__answer_places(struct file_batch *batch, struct file_places *places);

/* Forget the questions; close the files, and all roots but kept. */
void file_batch__clear(struct file_batch *batch, const struct batch_root *kept);

/* Unanswered questions are forgotten. */
void file_batch__release(struct file_batch *batch);

#endif
