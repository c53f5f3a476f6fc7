// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/text.h"

#include <string.h>

#include "sym/util/array.h"

/* The first and the last of some characters that follow each other. */
struct range {
	uint32_t first, last;
};

/* These turn the direction of text, separate lines, or are there without being seen. */
static const struct range disguises[] = {
	{0x061C, 0x061C}, {0x200B, 0x200B}, {0x200E, 0x200F},	{0x2028, 0x202E},
	{0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xE0000, 0xE007F},
};

/* White_Space (Unicode 15, PropList.txt), joiners, and letters that are drawn as nothing. */
static const struct range blanks[] = {
	{0x0020, 0x0020}, {0x00A0, 0x00A0}, {0x00AD, 0x00AD}, {0x115F, 0x1160}, {0x1680, 0x1680},
	{0x180E, 0x180E}, {0x2000, 0x200D}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x2800, 0x2800},
	{0x3000, 0x3000}, {0x3164, 0x3164}, {0xFFA0, 0xFFA0},
};

size_t text__character(const char *start, size_t length, uint32_t *code)
{
	const unsigned char *text = (const unsigned char *)start;
	unsigned char low = 0x80, high = 0xBF;
	uint32_t value;
	size_t size;

	if (text[0] < 0x80)
		size = 1;
	else if (text[0] >= 0xC2 && text[0] <= 0xDF)
		size = 2;
	else if (text[0] >= 0xE0 && text[0] <= 0xEF)
		size = 3;
	else if (text[0] >= 0xF0 && text[0] <= 0xF4)
		size = 4;
	else
		return 0;
	if (size > length)
		return 0;
	if (text[0] == 0xE0)
		low = 0xA0; /* overlong */
	else if (text[0] == 0xED)
		high = 0x9F; /* surrogates */
	else if (text[0] == 0xF0)
		low = 0x90; /* overlong */
	else if (text[0] == 0xF4)
		high = 0x8F; /* above U+10FFFF */
	if (size > 1 && (text[1] < low || text[1] > high))
		return 0;
	value = size == 1 ? text[0] : text[0] & (0x7F >> size);
	for (size_t i = 1; i < size; i++) {
		if (text[i] < 0x80 || text[i] > 0xBF)
			return 0;
		value = value << 6 | (text[i] & 0x3F);
	}
	*code = value;
	return size;
}

static bool is_in(uint32_t code, const struct range *ranges, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

bool text__is_control(uint32_t code)
{
	if (code < disguises[0].first)
		return code < ' ' || (code >= 0x7F && code <= 0x9F);
	return is_in(code, disguises, ARRAY_SIZE(disguises));
}

bool text__is_blank(uint32_t code)
{
	return is_in(code, blanks, ARRAY_SIZE(blanks));
}

/* The text to print for the character of step bytes and this number; NULL: itself. */
static const char *replacement(size_t step, uint32_t code, bool folded)
{
	if (step == 0 || text__is_control(code))
		return "?";
	return folded && code == ';' ? ":" : NULL;
}

size_t text__clean(const char *name, size_t length, bool folded, char *clean, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < length;) {
		uint32_t code = 0;
		size_t step = text__character(name + i, length - i, &code);
		const char *instead = replacement(step, code, folded);
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

void text__hex(const unsigned char *bytes, size_t nr, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < nr; i++) {
		*text++ = digits[bytes[i] >> 4];
		*text++ = digits[bytes[i] & 15];
	}
	*text = '\0';
}
