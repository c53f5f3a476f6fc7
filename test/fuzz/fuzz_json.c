// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: two bytes for the size, the text. */
#include <string.h>

#include "core/report/json.h"
#include "test/fuzz/fuzz.h"

#define INVALID UINT32_MAX

/* The character at the beginning of length bytes, by its value, and its size; else INVALID, 1. */
static uint32_t decode(const unsigned char *text, size_t length, size_t *size)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t nr = text[0] < 0x80 ? 1 :
		    text[0] < 0xC0 ? 0 :
				     2 + (text[0] >= 0xE0) + (text[0] >= 0xF0);
	uint32_t code = nr == 1 ? text[0] : text[0] & (0x7F >> nr);

	*size = 1;
	if (nr == 0 || nr > length || text[0] >= 0xF8)
		return INVALID;
	for (size_t i = 1; i < nr; i++) {
		if ((text[i] & 0xC0) != 0x80)
			return INVALID;
		code = code << 6 | (text[i] & 0x3F);
	}
	if (code < smallest[nr] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
		return INVALID;
	*size = nr;
	return code;
}

static uint32_t parse_hex(const unsigned char *digits, size_t length)
{
	uint32_t value = 0;

	REQUIRE(length >= 4);
	for (size_t i = 0; i < 4; i++) {
		const char *all = "0123456789abcdef", *digit = strchr(all, digits[i]);

		REQUIRE(digits[i] && digit);
		value = value << 4 | (uint32_t)(digit - all);
	}
	return value;
}

/* A character of a string with a closing quote, as in RFC 8259; *size: its bytes. */
static uint32_t parse_character(const unsigned char *text, size_t length, size_t *size)
{
	uint32_t code = decode(text, length, size);

	REQUIRE(code != INVALID && code != '"' && code >= ' ');
	/* Nor anything that no terminal shall see. */
	REQUIRE((code < 0x7F || code > 0x9F) && code != 0x2028 && code != 0x2029);
	REQUIRE(code < 0x202A || code > 0x202E);
	if (code != '\\')
		return code;
	REQUIRE(length >= 2);
	*size = 2;
	if (text[1] == '"' || text[1] == '\\')
		return text[1];
	REQUIRE(text[1] == 'u');
	*size = 6;
	code = parse_hex(text + 2, length - 2);
	if (code < 0xD800 || code > 0xDBFF)
		return code;
	/* A pair. */
	REQUIRE(length >= 12 && text[6] == '\\' && text[7] == 'u');
	*size = 12;
	return 0x10000 + ((code - 0xD800) << 10) + (parse_hex(text + 8, length - 8) - 0xDC00);
}

/* The string says what the text does; true if all of it. */
static bool check_string(const char *quoted, size_t length, const unsigned char *text, size_t size)
{
	const unsigned char *string = (const unsigned char *)quoted;
	size_t at = 0;

	REQUIRE(length >= 2 && quoted[0] == '"' && quoted[length - 1] == '"');
	for (size_t i = 1; i < length - 1;) {
		size_t step, text_step;
		uint32_t code = parse_character(string + i, length - 1 - i, &step), expected;

		REQUIRE(at < size);
		expected = decode(text + at, size - at, &text_step);
		REQUIRE(code == (expected == INVALID ? 0xFFFD : expected));
		at += text_step;
		i += step;
	}
	return at == size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room, worst, length;
	char *quoted;
	bool whole;

	if (size < 2)
		return 0;
	worst = JSON_STRING_SIZE(size - 2);
	room = 3 + (data[0] | (size_t)data[1] << 8) % (worst - 2);
	quoted = malloc(room);
	length = json__quote((const char *)data + 2, size - 2, quoted, room);
	REQUIRE(length < room);
	REQUIRE(strlen(quoted) == length);
	whole = check_string(quoted, length, data + 2, size - 2);
	/* Only characters without room are left out: none needs more than twelve bytes. */
	REQUIRE(whole || length + 12 >= room);
	REQUIRE(whole || room < worst);
	free(quoted);
	return 0;
}
