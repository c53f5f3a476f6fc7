// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/filter.h"

#include <errno.h>
#include <stdlib.h>

#include "core/flame/flame_tree.h"
#include "core/probe/pattern.h"
#include "sym/util/array.h"

#define MATCHES_FOCUS  1
#define MATCHES_IGNORE 2

static unsigned char ask(const struct stack_filter *filter, const char *text)
{
	unsigned char matches = 0;

	if (filter->focus && pattern__matches(filter->focus, text))
		matches |= MATCHES_FOCUS;
	if (filter->ignore && pattern__matches(filter->ignore, text))
		matches |= MATCHES_IGNORE;
	return matches;
}

/* Each text is asked for once. Returns 0 or -ENOMEM. */
static int look_up(struct stack_filter *filter, const char *text, unsigned char *matches)
{
	size_t known = filter->texts.nr;
	uint32_t number;

	if (ARRAY_GROW(filter->matches, known, filter->capacity) ||
	    text_set__add(&filter->texts, text, &number))
		return -ENOMEM;
	if (filter->texts.nr > known)
		filter->matches[number] = ask(filter, text);
	*matches |= filter->matches[number];
	return 0;
}

int stack_filter__wants(struct stack_filter *filter, const struct flame_frame *frames, size_t nr,
			uint64_t weight, bool *wanted)
{
	unsigned char matches = filter->focus ? 0 : MATCHES_FOCUS;

	for (size_t i = 0; i < nr; i++)
		if (look_up(filter, frames[i].text, &matches))
			return -ENOMEM;
	if (!(matches & MATCHES_FOCUS))
		filter->unfocused += weight;
	else if (matches & MATCHES_IGNORE)
		filter->ignored += weight;
	*wanted = matches == MATCHES_FOCUS;
	return 0;
}

void stack_filter__release(struct stack_filter *filter)
{
	text_set__release(&filter->texts);
	free(filter->matches);
	*filter = (struct stack_filter){0};
}
