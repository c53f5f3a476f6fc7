// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/util/message.h"

#include <stdarg.h>
#include <stdio.h>

static const char *program = "tracekit";

void message__set_program(const char *name)
{
	program = name;
}

void message(const char *format, ...)
{
	char text[1024]; /* stderr is unbuffered: one call, one write, one line */
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "%s: %s\n", program, text);
}
