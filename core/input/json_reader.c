// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/json_reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/input/bytes.h"
#include "sym/util/array.h"
#include "sym/util/number.h"

void json_reader__init(struct json_reader *reader, struct input_bytes *bytes)
{
	*reader = (struct json_reader){.bytes = bytes, .line = 1};
}

void json_reader__release(struct json_reader *reader)
{
	free(reader->text);
}

static bool fail(struct json_reader *reader, const char *fault)
{
	if (!reader->fault)
		reader->fault = fault;
	return false;
}

/* ---- bytes ---- */

static int next_byte(struct json_reader *reader)
{
	return reader->fault ? EOF : input_bytes__next(reader->bytes);
}

/* Take the byte that is the next one. */
static void take_byte(struct json_reader *reader)
{
	reader->line += reader->bytes->buffer[reader->bytes->at++] == '\n';
}

int json_reader__next(struct json_reader *reader)
{
	int byte;

	while ((byte = next_byte(reader)) == ' ' || byte == '\n' || byte == '\t' || byte == '\r')
		take_byte(reader);
	return byte;
}

bool json_reader__take(struct json_reader *reader, char sign)
{
	int byte = json_reader__next(reader);

	if (byte == sign) {
		take_byte(reader);
		return true;
	}
	return fail(reader, byte == EOF ? "it ends too early" : "it is no JSON");
}

void json_reader__skip_line(struct json_reader *reader)
{
	int byte;

	reader->fault = NULL;
	while ((byte = next_byte(reader)) != EOF) {
		take_byte(reader);
		if (byte == '\n')
			return;
	}
}

/* ---- strings ---- */

static bool append(struct json_reader *reader, unsigned int byte)
{
	if (reader->length == JSON_TEXT_MAX)
		return fail(reader, "a string is longer than 1 MB");
	if (ARRAY_GROW(reader->text, reader->length, reader->capacity)) {
		reader->no_memory = true;
		return fail(reader, "out of memory");
	}
	reader->text[reader->length++] = (char)byte;
	return true;
}

/* UTF-8 (Unicode 15, table 3-6); half of a pair of surrogates is no character. */
static bool append_character(struct json_reader *reader, uint32_t code)
{
	if (code >= 0xD800 && code <= 0xDFFF)
		code = 0xFFFD;
	if (code < 0x80)
		return append(reader, code);
	if (code < 0x800)
		return append(reader, 0xC0 | code >> 6) && append(reader, 0x80 | (code & 0x3F));
	if (code < 0x10000)
		return append(reader, 0xE0 | code >> 12) &&
		       append(reader, 0x80 | (code >> 6 & 0x3F)) &&
		       append(reader, 0x80 | (code & 0x3F));
	return append(reader, 0xF0 | code >> 18) && append(reader, 0x80 | (code >> 12 & 0x3F)) &&
	       append(reader, 0x80 | (code >> 6 & 0x3F)) && append(reader, 0x80 | (code & 0x3F));
}

/* Four digits. */
static bool take_hex(struct json_reader *reader, uint32_t *code)
{
	*code = 0;
	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdef";
		int byte = next_byte(reader);
		const char *digit = byte > 0 ? strchr(digits, tolower(byte)) : NULL;

		if (!digit)
			return fail(reader, "it is no JSON");
		*code = *code << 4 | (uint32_t)(digit - digits);
		take_byte(reader);
	}
	return true;
}

static bool take_escape(struct json_reader *reader);

/* Behind "\u". A character above U+FFFF is a pair: RFC 8259, section 7. */
static bool take_code(struct json_reader *reader)
{
	uint32_t code, low;

	if (!take_hex(reader, &code))
		return false;
	while (code >= 0xD800 && code <= 0xDBFF && next_byte(reader) == '\\') {
		take_byte(reader);
		if (next_byte(reader) != 'u') /* half of a pair, and another escape */
			return append_character(reader, code) && take_escape(reader);
		take_byte(reader);
		if (!take_hex(reader, &low))
			return false;
		if (low >= 0xDC00 && low <= 0xDFFF)
			return append_character(reader,
						0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00));
		if (!append_character(reader, code))
			return false;
		code = low;
	}
	return append_character(reader, code);
}

/* Behind a backslash. */
static bool take_escape(struct json_reader *reader)
{
	static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	int byte = next_byte(reader);
	const char *letter = byte > 0 ? strchr(letters, byte) : NULL;

	if (byte != 'u' && !letter)
		return fail(reader, "it is no JSON");
	take_byte(reader);
	return letter ? append(reader, (unsigned char)meanings[letter - letters]) :
			take_code(reader);
}

bool json_reader__string(struct json_reader *reader)
{
	int byte;

	reader->length = 0;
	if (!json_reader__take(reader, '"'))
		return false;
	while ((byte = next_byte(reader)) != '"') {
		if (byte == EOF)
			return fail(reader, "it ends too early");
		if (byte == '\n')
			return fail(reader, "it is no JSON");
		take_byte(reader);
		if (byte == '\\' ? !take_escape(reader) : !append(reader, (unsigned int)byte))
			return false;
	}
	take_byte(reader);
	return true;
}

/* ---- other values ---- */

/* Take the letters, digits and signs of numbers and of true, false and null; others are cut off. */
static void take_word(struct json_reader *reader, char *word, size_t size)
{
	size_t length = 0;
	int byte = json_reader__next(reader);

	while (byte > 0 && (isalnum(byte) || strchr("+-.", byte))) {
		if (length < size - 1)
			word[length++] = (char)byte;
		take_byte(reader);
		byte = next_byte(reader);
	}
	word[length] = '\0';
}

bool json_reader__number(struct json_reader *reader, uint64_t *number)
{
	char word[32];

	take_word(reader, word, sizeof(word));
	if (!word[0] && next_byte(reader) == EOF)
		return fail(reader, "it ends too early");
	if (number__parse(word, 0, UINT64_MAX, number))
		return fail(reader, "its count is no whole number");
	return true;
}

static bool skip_word(struct json_reader *reader)
{
	char word[64];

	take_word(reader, word, sizeof(word));
	if (!strcmp(word, "true") || !strcmp(word, "false") || !strcmp(word, "null") ||
	    isdigit((unsigned char)word[0]) || word[0] == '-')
		return true;
	return fail(reader,
		    json_reader__next(reader) == EOF ? "it ends too early" : "it is no JSON");
}

bool json_reader__member(struct json_reader *reader, bool *first)
{
	if (json_reader__next(reader) == '}') {
		take_byte(reader);
		return false;
	}
	if (!*first && !json_reader__take(reader, ','))
		return false;
	*first = false;
	return json_reader__string(reader) && json_reader__take(reader, ':');
}

bool json_reader__element(struct json_reader *reader, bool *first)
{
	if (json_reader__next(reader) == ']') {
		take_byte(reader);
		return false;
	}
	if (!*first && !json_reader__take(reader, ','))
		return false;
	*first = false;
	return json_reader__next(reader) != EOF || fail(reader, "it ends too early");
}

bool json_reader__skip(struct json_reader *reader)
{
	char open[JSON_DEPTH_MAX]; /* the arrays and objects that it is in: '[' or '{' each */
	bool first = true;
	size_t depth = 0;

	do {
		int byte = json_reader__next(reader);

		if (byte == '[' || byte == '{') {
			if (depth == JSON_DEPTH_MAX)
				return fail(reader, "its values are nested too deep");
			open[depth++] = (char)byte;
			take_byte(reader);
			first = true;
		} else if (byte == '"' ? !json_reader__string(reader) : !skip_word(reader)) {
			return false;
		}
		/* To the next value, up from all that ends here. */
		while (depth && !(open[depth - 1] == '{' ? json_reader__member(reader, &first) :
							   json_reader__element(reader, &first))) {
			if (reader->fault)
				return false;
			depth--;
			first = false;
		}
	} while (depth);
	return true;
}
