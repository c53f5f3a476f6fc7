/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the symbolizer is asked for a user frame. A frame in a file is asked for by file and offset,
 * whatever has become of the programs that had it. Any other frame is an address of a program,
 * which is asked as long as it runs; afterwards its JIT map has the names, if it was passed on in
 * time.
 */
#ifndef TRACEKIT_CORE_NAMES_FRAME_QUESTION_H
#define TRACEKIT_CORE_NAMES_FRAME_QUESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "sym/util/arena.h"
#include "sym/util/pointer_map.h"

struct sym_query;
struct unwind_module_list;
struct unwinding;

/* The place to look a frame up: the kernel, or a file, or a program. */
struct frame_place {
	uint64_t frame; /* as of frame_plain() */
	uint32_t tgid;
	bool return_address;
	uint64_t program; /* as in struct stack_key. Both are 0 for kernel frames. */
};

/* As of frame__query(). */
struct sym_query frame_place__query(const struct frame_place *place);

/*
 * Where the program of a frame in a file has that, the walk has noted: the answer gets the address,
 * if it is known. unwinding: who knows; NULL: it is not wanted.
 */
void frame_place__find_address(const struct frame_place *place, const struct unwinding *unwinding,
			       struct sym_query *answer);

/* The files of questions, each once; all zero is empty. Questions have pointers into it. */
struct asked_files {
	struct arena arena;
	struct pointer_map of_modules; /* struct sym_mapped_file */
};

/*
 * Fill in the question, for a user frame. Returns 1, 0 if there is nobody to ask, since the file
 * that the frame is in has not been found, or -ENOMEM.
 */
int frame_question__make(struct sym_query *question, const struct frame_place *place,
			 const struct unwind_module_list *modules, struct asked_files *files);
void asked_files__release(struct asked_files *files);

/* Take an answer to the question, but for whom it was asked of. */
void frame_question__take(struct sym_query *query, const struct sym_query *answer);

#endif
