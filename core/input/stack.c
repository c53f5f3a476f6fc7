// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/stack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"
#include "sym/util/text.h"

#define UNKNOWN "[unknown]"

int read_stack__init(struct read_stack *stack)
{
	*stack = (struct read_stack){.texts = malloc(STACK_TEXT_MAX)};
	return stack->texts ? 0 : -ENOMEM;
}

void read_stack__release(struct read_stack *stack)
{
	free(stack->frames);
	free(stack->texts);
	*stack = (struct read_stack){0};
}

void read_stack__clear(struct read_stack *stack)
{
	stack->nr = stack->used = 0;
	stack->cut = false;
}

char *read_stack__text(struct read_stack *stack, const char *text, size_t length)
{
	char *copy = stack->texts + stack->used;

	/* Clean text is never longer. */
	if (length >= STACK_TEXT_MAX - stack->used) {
		stack->cut = true;
		return NULL;
	}
	stack->used += text__clean(text, length, false, copy, length + 1) + 1;
	return copy;
}

int read_stack__add(struct read_stack *stack, const char *text, const char *module,
		    enum flame_kind kind)
{
	stack->cut |= stack->nr == STACK_FRAMES_MAX;
	if (!text || stack->cut)
		return 0;
	if (ARRAY_GROW(stack->frames, stack->nr, stack->capacity))
		return -ENOMEM;
	stack->frames[stack->nr++] =
		(struct flame_frame){.text = text, .module = module, .kind = kind};
	return 0;
}

int read_stack__add_unknown(struct read_stack *stack, const char *module)
{
	size_t size = module ? strlen(module) + sizeof(UNKNOWN " ()") : 0;
	char *text = stack->texts + stack->used;

	if (!module)
		return read_stack__add(stack, UNKNOWN, NULL, FLAME_UNKNOWN);
	if (size > STACK_TEXT_MAX - stack->used) {
		stack->cut = true;
		return 0;
	}
	stack->used += (size_t)snprintf(text, size, UNKNOWN " (%s)", module) + 1;
	return read_stack__add(stack, text, module, FLAME_UNKNOWN);
}

void read_stack__reverse(struct read_stack *stack, size_t first)
{
	for (size_t last = stack->nr; first + 1 < last; first++) {
		struct flame_frame frame = stack->frames[first];

		stack->frames[first] = stack->frames[--last];
		stack->frames[last] = frame;
	}
}
