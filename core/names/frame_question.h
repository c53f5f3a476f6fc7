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
struct unwinding;

/* The place to look a frame up: the kernel, or a file, or a program. */
struct frame_place {
	uint64_t frame; /* as of frame_plain() */
	uint32_t tgid;
	bool return_address;
	uint64_t program; /* as in struct stack_key. Both are 0 for kernel frames. */
};

/* As of frame__query(). modules: those that frames can have; or NULL. */
struct sym_query frame_place__query(const struct frame_place *place,
				    const struct unwind_module_list *modules);

/*
 * Where the program of a frame in a file has that, the walk has noted: the answer gets the address,
 * if it is known. unwinding: who knows; NULL: it is not wanted.
 */
void frame_place__find_address(const struct frame_place *place, const struct unwinding *unwinding,
			       struct sym_query *answer);

/*
 * Fill in the question, for a user frame. False if there is nobody to ask: the file that the frame
 * is in has not been found.
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
