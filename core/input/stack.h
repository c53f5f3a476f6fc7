/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One stack as it is being read: frames whose texts are safe to print. All kinds of files have the
 * same bound: a megabyte of text.
 */
#ifndef TRACEKIT_CORE_INPUT_STACK_H
#define TRACEKIT_CORE_INPUT_STACK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/flame/flame_tree.h"

/* Bytes of all texts that the stack keeps, each with a NUL. */
#define STACK_TEXT_MAX (1024 * 1024 + 1)

/* Frames: as many as can stand in a line of folded stacks. */
#define STACK_FRAMES_MAX (1024 * 1024)

struct read_stack {
	struct flame_frame *frames;
	size_t nr, capacity;
	char *texts; /* STACK_TEXT_MAX bytes */
	size_t used;
	bool cut; /* there was no room for all of it */
};

/* Returns 0 or -ENOMEM; either way read_stack__release() is due. */
int read_stack__init(struct read_stack *stack);
void read_stack__release(struct read_stack *stack);

/* Forget its frames and their texts. */
void read_stack__clear(struct read_stack *stack);

/* A clean copy of a text, which the stack keeps until it is cleared. NULL: no room, it is cut. */
char *read_stack__text(struct read_stack *stack, const char *text, size_t length);

/*
 * Add a frame. Its text and its module, if it has one, must stay as long as the stack has the
 * frame; without a text nothing is added. Returns 0 or -ENOMEM.
 */
int read_stack__add(struct read_stack *stack, const char *text, const char *module,
		    enum flame_kind kind);

/*
 * Add a frame without a name: "[unknown] (libc.so.6)", or "[unknown]" if module is NULL. Side by
 * side, such frames say more by their files. Returns 0 or -ENOMEM.
 */
int read_stack__add_unknown(struct read_stack *stack, const char *module);

/* Let the frames from number first on come in the other order. */
void read_stack__reverse(struct read_stack *stack, size_t first);

#endif
