// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: a byte whose lowest bit says whether to fold, a byte for the size, the name. */
#include <stdbool.h>
#include <string.h>

#include "core/report/output.h"
#include "sym/util/text.h"
#include "test/fuzz/fuzz.h"

/* The length of the character at text, which ends with a NUL; its number in *code. */
static size_t decode(const unsigned char *text, uint32_t *code)
{
	size_t size = text[0] < 0x80 ? 1 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};

	REQUIRE(text[0] < 0x80 || (text[0] >= 0xC0 && text[0] < 0xF8));
	*code = size == 1 ? text[0] : text[0] & (0x7F >> size);
	for (size_t i = 1; i < size; i++) {
		REQUIRE((text[i] & 0xC0) == 0x80);
		*code = *code << 6 | (text[i] & 0x3F);
	}
	REQUIRE(*code >= smallest[size]);
	return size;
}

static void check_clean(const char *clean, bool folded)
{
	for (const unsigned char *text = (const unsigned char *)clean; *text;) {
		uint32_t code;

		text += decode(text, &code);
		REQUIRE(code >= ' ' && (code < 0x7F || code > 0x9F));
		REQUIRE(code < 0xD800 || (code > 0xDFFF && code <= 0x10FFFF));
		REQUIRE(!folded || code != ';');
		REQUIRE(code < 0x202A || code > 0x202E);
		REQUIRE(code < 0x2060 || code > 0x206F);
		REQUIRE(code < 0xE0000 || code > 0xE007F);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool folded;
	size_t room, length;
	char *clean;

	if (size < 2)
		return 0;
	folded = data[0] & 1;
	room = (size_t)data[1] + 1;
	clean = malloc(room);
	length = text__clean((const char *)data + 2, size - 2, folded, clean, room);
	REQUIRE(length < room);
	REQUIRE(strlen(clean) == length);
	/*
	 * A replacement is no longer than its character; only characters that do not fit are lost.
	 */
	REQUIRE(length <= size - 2);
	REQUIRE(size == 2 || room < 5 || length > 0);
	check_clean(clean, folded);
	free(clean);
	return 0;
}
