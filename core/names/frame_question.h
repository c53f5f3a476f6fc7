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

struct sym_query;
struct symbolizer;
struct unwind_module_list;

/* The place to look a frame up: the kernel, or a file, or a program. */
struct frame_place {
	uint64_t frame; /* as of frame_plain() */
	uint32_t tgid;
	bool return_address;
	uint64_t program; /* as in struct stack_key. Both are 0 for kernel frames. */
};

/*
 * Fill in the question, for a user frame. False if there is nobody to ask: the file that the frame
 * is in has not been found. modules: those that frames can have; or NULL.
 */
bool frame_question__make(struct sym_query *question, const struct frame_place *place,
			  const struct unwind_module_list *modules);

/*
 * Tell the symbolizer of the file that a frame is in, before it is asked; it remembers some
 * hundreds. Does nothing for other frames.
 */
void frame_question__tell_file(struct symbolizer *symbolizer, uint64_t frame,
			       const struct unwind_module_list *modules);

/* Take an answer to the question, but for whom it was asked of, and where that has the frame. */
void frame_question__take(struct sym_query *query, const struct sym_query *answer);

#endif
