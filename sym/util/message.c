// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sym/util/text.h"

static const char *program = "tracekit";

void message__set_program(const char *name)
{
	program = name;
}

void message(const char *format, ...)
{
	char text[1024], clean[sizeof(text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* It can hold what was typed, or read from a file. */
	text__clean(text, strlen(text), false, clean, sizeof(clean));
	/* stderr is unbuffered: one call, one write, one line. */
	fprintf(stderr, "%s: %s\n", program, clean);
}
