// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/error.h"

#include <stdarg.h>
#include <stdio.h>

int error__set(struct error *error, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return code;
}
