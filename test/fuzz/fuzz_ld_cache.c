// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: an ld.so.cache. */
#include <limits.h>
#include <string.h>

#include "sym/find/ld_cache.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ld_cache cache;

	if (ld_cache__open(&cache, (const char *)data, size))
		return 0;
	for (uint32_t i = 0; i < cache.nr; i++) {
		const char *soname, *path;

		if (!ld_cache__entry(&cache, i, &soname, &path))
			continue;
		REQUIRE(strlen(soname) < PATH_MAX);
		REQUIRE(strlen(path) < PATH_MAX);
	}
	return 0;
}
