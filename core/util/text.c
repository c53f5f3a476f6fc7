// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/util/text.h"

#include <string.h>

/*
 * The length of the UTF-8 character at text (Unicode 15, table 3-7), 0 if there
 * is none in the first length bytes. C1 control characters do not count: some
 * terminals obey them.
 */
static size_t utf8_character(const unsigned char *text, size_t length)
{
	unsigned char low = 0x80, high = 0xBF;
	size_t size;

	if (text[0] >= 0xC2 && text[0] <= 0xDF)
		size = 2;
	else if (text[0] >= 0xE0 && text[0] <= 0xEF)
		size = 3;
	else if (text[0] >= 0xF0 && text[0] <= 0xF4)
		size = 4;
	else
		return 0;
	if (size > length)
		return 0;
	if (text[0] == 0xC2 || text[0] == 0xE0)
		low = 0xA0; /* C1; overlong */
	else if (text[0] == 0xED)
		high = 0x9F; /* surrogates */
	else if (text[0] == 0xF0)
		low = 0x90; /* overlong */
	else if (text[0] == 0xF4)
		high = 0x8F; /* above U+10FFFF */
	if (text[1] < low || text[1] > high)
		return 0;
	for (size_t i = 2; i < size; i++)
		if (text[i] < 0x80 || text[i] > 0xBF)
			return 0;
	return size;
}

/* Marks, embeddings and isolates of direction, and separators of lines: U+200E to U+2069. */
static bool disguises(const unsigned char *text, size_t size)
{
	if (size != 3 || text[0] != 0xE2)
		return false;
	if (text[1] == 0x80)
		return text[2] == 0x8E || text[2] == 0x8F || (text[2] >= 0xA8 && text[2] <= 0xAE);
	return text[1] == 0x81 && text[2] >= 0xA6 && text[2] <= 0xA9;
}

/* What is printed for the character of step bytes at text; NULL: itself. */
static const char *replacement(const unsigned char *text, size_t step, bool folded)
{
	if (step == 0 || disguises(text, step) || text[0] < ' ' || text[0] == 0x7F)
		return "?";
	return folded && text[0] == ';' ? ":" : NULL;
}

size_t text__clean(const char *name, size_t length, bool folded, char *clean, size_t size)
{
	const unsigned char *text = (const unsigned char *)name;
	size_t used = 0;

	for (size_t i = 0; i < length;) {
		size_t step = text[i] < 0x80 ? 1 : utf8_character(text + i, length - i);
		const char *instead = replacement(text + i, step, folded);
		size_t piece = instead ? 1 : step;

		if (used + piece >= size)
			break;
		memcpy(clean + used, instead ? instead : name + i, piece);
		used += piece;
		i += step ? step : 1; /* an invalid byte counts for itself */
	}
	clean[used] = '\0';
	return used;
}
