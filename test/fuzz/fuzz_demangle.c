// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: a symbol. Forms that would take long have to be given up: else -timeout shows it. */
#include <string.h>

#include "sym/elf/demangle.h"
#include "test/fuzz/fuzz.h"

/*
 * libiberty is not built for fuzzing. So that libFuzzer sees which symbols are new to it, pairs of
 * characters in forms count as code that was reached.
 */
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t pairs[4096];

static void count_pairs(const char *text)
{
	for (; text[0] && text[1]; text++)
		pairs[((unsigned char)text[0] * 64 + (unsigned char)text[1]) % sizeof(pairs)]++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* In memory of its own, so that reading behind it is seen. */
	char *symbol = strndup((const char *)data, size);
	char *text = malloc(DEMANGLED_SIZE);
	unsigned int patience = 1;

	REQUIRE(symbol && text);
	memset(text, 'x', DEMANGLED_SIZE);
	if (demangle(symbol, text, &patience)) {
		const char *suffix = strchr(symbol, '@');
		const char *end = memchr(text, '\0', DEMANGLED_SIZE);

		REQUIRE(patience == 1);
		REQUIRE(end && end > text);
		REQUIRE(!suffix || (size_t)(end - text) > strlen(suffix));
		REQUIRE(!suffix || !strcmp(end - strlen(suffix), suffix));
		count_pairs(text);
	}
	memset(text, 'x', DEMANGLED_SIZE);
	if (demangle_name(symbol, text, &patience)) {
		REQUIRE(text[0] && memchr(text, '\0', DEMANGLED_SIZE));
		count_pairs(text);
	}
	free(text);
	free(symbol);
	return 0;
}
