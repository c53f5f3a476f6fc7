// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Input: the lines; an "!" as the first byte makes them those of the earlier run. Whatever they
 * are, the weights of the tree agree, and names are safe to print.
 */
#include "core/input/folded_lines.h"
#include "test/fuzz/stacks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct flame_tree tree = {0};
	struct reading reading = {.tree = &tree, .before = size > 0 && data[0] == '!'};
	struct input_bytes bytes;

	open_stacks(&bytes, data, size);
	REQUIRE(folded_lines__read(&reading, &bytes) == 0);
	input_bytes__release(&bytes);
	require_reading(&reading);
	return 0;
}
