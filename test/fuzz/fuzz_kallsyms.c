// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: the text of a /proc/kallsyms; taken for the output of "%pS", too. */
#include <errno.h>
#include <string.h>

#include "sym/kallsyms/kernel.h"
#include "sym/util/array.h"
#include "test/fuzz/fuzz.h"

static void fuzz_printed(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct kernel_symbol symbol;

	memcpy(text, data, size);
	text[size] = '\0';
	if (kernel_symbol__parse(text, &symbol)) {
		const char *end = text + strlen(text);

		REQUIRE(symbol.name == text && symbol.name_length > 0);
		REQUIRE(symbol.name + symbol.name_length < end);
		REQUIRE(!symbol.module || symbol.module > symbol.name + symbol.name_length);
		REQUIRE(!symbol.module || symbol.module + symbol.module_length <= end);
	}
	free(text);
}

static void fuzz_kallsyms(const uint8_t *data, size_t size)
{
	struct kallsyms_lookup lookups[] = {
		{.address = 0},
		{.address = 0x10},
		{.address = 0xffffffff81000000},
		{.address = 0xffffffff81000008},
		{.address = 0xffffffff81000008},
		{.address = 0xffffffffc0001010},
		{.address = UINT64_MAX},
	};
	FILE *file = fmemopen((void *)data, size, "r");
	struct arena names = {0};
	int err;

	REQUIRE(file);
	err = kallsyms__find(file, lookups, ARRAY_SIZE(lookups), &names);
	REQUIRE(err == 0 || err == -EACCES);
	for (size_t i = 0; i < ARRAY_SIZE(lookups) && !err; i++) {
		REQUIRE(!lookups[i].name || lookups[i].name[0]);
		REQUIRE(!lookups[i].name || lookups[i].start <= lookups[i].address);
		REQUIRE(!lookups[i].module || lookups[i].name);
	}
	arena__release(&names);
	fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_printed(data, size);
	if (size > 0)
		fuzz_kallsyms(data, size);
	return 0;
}
