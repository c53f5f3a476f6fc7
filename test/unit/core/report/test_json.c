// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/report/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"
#include "test/unit/tap.h"

#define REPLACED "\xEF\xBF\xBD" /* U+FFFD */

/* Quote length bytes, in memory that ends where the worst case does. */
static void check_bytes(const char *text, size_t length, const char *expected)
{
	char *exact = malloc(length + 1), *quoted = malloc(JSON_STRING_SIZE(length));

	memcpy(exact + 1, text, length);
	CHECK_INT(json__quote(exact + 1, length, quoted, JSON_STRING_SIZE(length)),
		  strlen(expected));
	CHECK_STR(quoted, expected);
	free(quoted);
	free(exact);
}

static void check_quoted(const char *text, const char *expected)
{
	check_bytes(text, strlen(text), expected);
}

/* It stands in quotes as it is. */
static void check_kept(const char *text)
{
	char expected[64];

	snprintf(expected, sizeof(expected), "\"%s\"", text);
	check_quoted(text, expected);
}

static void plain_text(void)
{
	check_kept("");
	check_kept("vfs_read");
	check_kept("std::map<int, char const*>::operator[](int const&)");
	check_kept("</script> ' ; & $(x) %s");
	check_kept("\xC3\xA9t\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
}

static void ascii(void)
{
	for (int c = 0; c < 0x80; c++) {
		const char text[] = {'a', (char)c, 'b'};
		char expected[16];

		if (c < ' ' || c == 0x7F)
			snprintf(expected, sizeof(expected), "\"a\\u%04xb\"", c);
		else
			snprintf(expected, sizeof(expected), "\"a%s%cb\"",
				 c == '"' || c == '\\' ? "\\" : "", c);
		check_bytes(text, sizeof(text), expected);
	}
}

static void quotes_and_backslashes(void)
{
	check_quoted("\"", "\"\\\"\"");
	check_quoted("\\", "\"\\\\\"");
	check_quoted("\\\"", "\"\\\\\\\"\"");
	check_quoted("a\",\"pid\":1", "\"a\\\",\\\"pid\\\":1\"");
	check_quoted("\\u0041", "\"\\\\u0041\"");
}

static void what_terminals_obey(void)
{
	check_quoted("\x1B[31m", "\"\\u001b[31m\"");
	check_quoted("a\nb\r", "\"a\\u000ab\\u000d\"");
	check_bytes("a\0b", 3, "\"a\\u0000b\"");
	check_quoted("\xC2\x80\xC2\x9B"
		     "2J\xC2\x9F",
		     "\"\\u0080\\u009b2J\\u009f\"");
	check_quoted("\xE2\x80\xA8\xE2\x80\xA9", "\"\\u2028\\u2029\"");
	check_quoted("\xE2\x80\xAE\xE2\x81\xA6\xE2\x80\x8E", "\"\\u202e\\u2066\\u200e\"");
	check_quoted("\xD8\x9C\xE2\x81\xA0\xEF\xBB\xBF", "\"\\u061c\\u2060\\ufeff\"");
	check_quoted("\xF3\xA0\x80\x80\xF3\xA0\x81\xBF", "\"\\udb40\\udc00\\udb40\\udc7f\"");
	check_kept("\xC2\xA0\xE2\x80\xA7\xE2\x80\xAF\xE2\x81\x9F\xE2\x81\xB0\xF3\xA0\x82\x80");
}

static void invalid_utf8(void)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{"\x80", REPLACED},
		{"a\xFF", "a" REPLACED},
		{"\xFE\xFF", REPLACED REPLACED},
		/* cut */
		{"\xC3", REPLACED},
		{"\xE2\x82", REPLACED REPLACED},
		{"\xF0\x9F\x98", REPLACED REPLACED REPLACED},
		{"\xC3\"", REPLACED "\\\""},
		{"\xE2\x82(", REPLACED REPLACED "("},
		{"\xE2\xC3\xA9", REPLACED "\xC3\xA9"},
		{"\xC3\x1B", REPLACED "\\u001b"},
		/* overlong: a slash, a quote, U+07FF, U+FFFF */
		{"\xC0\xAF", REPLACED REPLACED},
		{"\xC0\xA2", REPLACED REPLACED},
		{"\xE0\x9F\xBF", REPLACED REPLACED REPLACED},
		{"\xF0\x8F\xBF\xBF", REPLACED REPLACED REPLACED REPLACED},
		/* surrogates, alone and as a pair */
		{"\xED\xA0\x80", REPLACED REPLACED REPLACED},
		{"\xED\xBF\xBF", REPLACED REPLACED REPLACED},
		{"\xED\xA0\xBD\xED\xB8\x80", REPLACED REPLACED REPLACED REPLACED REPLACED REPLACED},
		/* above U+10FFFF */
		{"\xF4\x90\x80\x80", REPLACED REPLACED REPLACED REPLACED},
		{"\xF8\x88\x80\x80\x80", REPLACED REPLACED REPLACED REPLACED REPLACED},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char expected[64];

		snprintf(expected, sizeof(expected), "\"%s\"", cases[i].expected);
		check_quoted(cases[i].text, expected);
	}
}

static void the_ends_of_what_is_valid(void)
{
	check_kept("\xDF\xBF");
	check_kept("\xE0\xA0\x80");
	check_kept("\xED\x9F\xBF");
	check_kept("\xEE\x80\x80");
	check_kept("\xEF\xBF\xBF");
	check_kept("\xF0\x90\x80\x80");
	check_kept("\xF4\x8F\xBF\xBF");
}

/* The length ends the text, although the bytes behind it would complete a character. */
static void length_ends_the_text(void)
{
	char quoted[16];

	CHECK_INT(json__quote("\xC3\xA9", 1, quoted, sizeof(quoted)), 5);
	CHECK_STR(quoted, "\"" REPLACED "\"");
	CHECK_INT(json__quote("ab", 1, quoted, sizeof(quoted)), 3);
	CHECK_STR(quoted, "\"a\"");
	CHECK_INT(json__quote("", 0, quoted, sizeof(quoted)), 2);
	CHECK_STR(quoted, "\"\"");
}

static void the_worst_case_fits(void)
{
	char text[100], quoted[JSON_STRING_SIZE(sizeof(text))];

	memset(text, 0x1B, sizeof(text));
	CHECK_INT(json__quote(text, sizeof(text), quoted, sizeof(quoted)), sizeof(quoted) - 1);
	CHECK_STR(quoted + sizeof(quoted) - 8, "\\u001b\"");
}

/* Whole characters and escapes only, and always both quotes. */
static void buffers_of_any_size(void)
{
	const char text[] = "a\"\x1B\xE2\x82\xAC\xFFz";
	const char whole[] = "\"a\\\"\\u001b\xE2\x82\xAC" REPLACED "z";
	/* How much of whole fits into a buffer of size. */
	const size_t lengths[] = {0, 0,	 0,  1,	 2,  2,	 4,  4,	 4,  4, 4,
				  4, 10, 10, 10, 13, 13, 13, 16, 17, 17};

	for (size_t size = 3; size < ARRAY_SIZE(lengths); size++) {
		char *quoted = malloc(size);

		CHECK_INT(json__quote(text, strlen(text), quoted, size), lengths[size] + 1);
		CHECK(!memcmp(quoted, whole, lengths[size]));
		CHECK_STR(quoted + lengths[size], "\"");
		free(quoted);
	}
}

static const struct tap_test tests[] = {
	{"plain text stands in quotes as it is", plain_text},
	{"of ASCII, controls, quotes and backslashes are escaped", ascii},
	{"no quote ends a string, no backslash begins an escape", quotes_and_backslashes},
	{"what terminals obey is escaped", what_terminals_obey},
	{"each byte of invalid UTF-8 is replaced", invalid_utf8},
	{"the first and last characters of each length are kept", the_ends_of_what_is_valid},
	{"the length ends the text, whatever follows", length_ends_the_text},
	{"the worst case fits exactly", the_worst_case_fits},
	{"in small buffers nothing is cut in two, nor the quote left out", buffers_of_any_size},
};

int main(void)
{
	return TAP_RUN(tests);
}
