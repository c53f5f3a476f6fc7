// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: a file of any kind, or what gzip makes of one. */
#include "core/input/input.h"
#include "test/fuzz/stacks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct flame_tree tree = {.by_name = true};
	struct reading reading = {.tree = &tree};
	int fd = dup(open_input(data, size));

	REQUIRE(fd >= 0 && lseek(fd, 0, SEEK_SET) == 0);
	REQUIRE(input__read(&reading, fd) == 0);
	require_reading(&reading);
	return 0;
}
