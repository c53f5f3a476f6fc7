// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: the text of a /proc/PID/maps. */
#include "sym/process/maps.h"
#include "test/fuzz/fuzz.h"

static void check_list(const struct mapping_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct mapping *mapping = &list->mappings[i];

		REQUIRE(mapping->start < mapping->end);
		REQUIRE(mapping->path);
		REQUIRE(i == 0 || list->mappings[i - 1].end <= mapping->start);
		REQUIRE(mapping_list__find(list, mapping->start) == mapping);
		REQUIRE(mapping_list__find(list, mapping->end - 1) == mapping);
		REQUIRE(mapping_list__find(list, mapping->end) != mapping);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mapping_list list = {0};
	FILE *file;

	if (size == 0)
		return 0;
	file = fmemopen((void *)data, size, "r");
	REQUIRE(file);
	REQUIRE(mapping_list__read(&list, file) == 0);
	check_list(&list);
	mapping_list__release(&list);
	fclose(file);
	return 0;
}
