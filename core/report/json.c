// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/report/json.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sym/util/text.h"

static size_t escape(uint32_t code, char piece[16])
{
	if (code <= 0xFFFF)
		return (size_t)sprintf(piece, "\\u%04x", code);
	/* A pair of surrogates: RFC 8259, section 7. */
	return (size_t)sprintf(piece, "\\u%04x\\u%04x", 0xD800 + ((code - 0x10000) >> 10),
			       0xDC00 + (code & 0x3FF));
}

/* Write the character of step bytes at text, whose number is code, as strings have it. */
static size_t represent(const char *text, size_t step, uint32_t code, char piece[16])
{
	if (step == 0)
		return (size_t)sprintf(piece, "\xEF\xBF\xBD"); /* U+FFFD */
	if (text__is_control(code))
		return escape(code, piece);
	if (code == '"' || code == '\\')
		return (size_t)sprintf(piece, "\\%c", (char)code);
	memcpy(piece, text, step);
	return step;
}

size_t json__quote(const char *text, size_t length, char *quoted, size_t size)
{
	size_t used = 0;

	quoted[used++] = '"';
	for (size_t i = 0; i < length;) {
		uint32_t code = 0;
		size_t step = text__character(text + i, length - i, &code);
		char piece[16];
		size_t nr = represent(text + i, step, code, piece);

		if (used + nr + sizeof("\"") > size)
			break;
		memcpy(quoted + used, piece, nr);
		used += nr;
		i += step ? step : 1; /* an invalid byte counts for itself */
	}
	quoted[used++] = '"';
	quoted[used] = '\0';
	return used;
}
