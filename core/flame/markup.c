// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/flame/markup.h"

#include <stdint.h>
#include <string.h>

#include "sym/util/text.h"

/* The text to write for the character of step bytes and this number; NULL: itself. */
static const char *reference(size_t step, uint32_t code)
{
	if (step == 0 || code < ' ' || (code >= 0x7F && code <= 0x9F) || code == 0xFFFE ||
	    code == 0xFFFF)
		return "?";
	switch (code) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* Returns how many bytes; out may be NULL. */
static size_t write_escaped(FILE *out, const char *text, size_t length)
{
	size_t written = 0;

	for (size_t i = 0; i < length;) {
		uint32_t code = 0;
		size_t step = text__character(text + i, length - i, &code);
		const char *instead = reference(step, code);
		size_t bytes = instead ? strlen(instead) : step;

		if (out)
			fwrite(instead ? instead : text + i, 1, bytes, out);
		written += bytes;
		i += step ? step : 1; /* an invalid byte counts for itself */
	}
	return written;
}

void markup__escape(FILE *out, const char *text, size_t length)
{
	write_escaped(out, text, length);
}

size_t markup__length(const char *text, size_t length)
{
	return write_escaped(NULL, text, length);
}
