// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: the text. It must be read back as itself, by rules of its own, and hold no markup. */
#include <stdlib.h>
#include <string.h>

#include "core/flame/markup.h"
#include "sym/util/array.h"
#include "sym/util/text.h"
#include "test/fuzz/fuzz.h"

static const struct {
	const char *name;
	char letter;
} references[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}};

/* The letter that a reference stands for; *size: its bytes. */
static char resolve(const char *text, size_t *size)
{
	for (size_t i = 0; i < ARRAY_SIZE(references); i++) {
		*size = strlen(references[i].name);
		if (!strncmp(text, references[i].name, *size))
			return references[i].letter;
	}
	REQUIRE(!"a reference that is known");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *written = NULL;
	size_t length = 0, at = 0;
	FILE *out = open_memstream(&written, &length);

	REQUIRE(out);
	markup__escape(out, (const char *)data, size);
	fclose(out);
	REQUIRE(markup__length((const char *)data, size) == length);
	REQUIRE(strlen(written) == length);
	REQUIRE(!strpbrk(written, "<>\"'"));
	for (size_t i = 0; i < length || at < size;) {
		uint32_t code = 0;
		size_t step = text__character((const char *)data + at, size - at, &code), bytes = 1;

		REQUIRE(i < length && at < size);
		if (step == 0 || code < ' ' || (code >= 0x7F && code <= 0x9F) || code == 0xFFFE ||
		    code == 0xFFFF)
			REQUIRE(written[i] == '?');
		else if (written[i] == '&')
			REQUIRE(resolve(written + i, &bytes) == (char)data[at]);
		else
			REQUIRE(!memcmp(written + i, data + at, bytes = step));
		i += bytes;
		at += step ? step : 1;
	}
	free(written);
	return 0;
}
