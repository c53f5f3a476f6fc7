/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all readers of stacks are to keep, whatever the file is. */
#ifndef TRACEKIT_TEST_FUZZ_STACKS_H
#define TRACEKIT_TEST_FUZZ_STACKS_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/flame/flame_tree.h"
#include "core/input/bytes.h"
#include "core/input/reading.h"
#include "sym/util/text.h"
#include "test/fuzz/fuzz.h"

/* A text of a frame is safe to print. */
static inline void require_clean(const char *text)
{
	for (size_t at = 0, length = strlen(text); at < length;) {
		uint32_t code = 0;
		size_t step = text__character(text + at, length - at, &code);

		REQUIRE(step && !text__is_control(code));
		at += step;
	}
}

/* A node weighs what ends in it and what its callees weigh. */
static inline void require_sums(const struct flame_tree *tree)
{
	uint64_t *rest = calloc(tree->nr + 1, sizeof(*rest));

	REQUIRE(rest);
	for (size_t i = 0; i < tree->nr; i++)
		rest[i] = tree->nodes[i].total + tree->nodes[i].total_before - tree->nodes[i].self -
			  tree->nodes[i].self_before;
	for (size_t i = 1; i < tree->nr; i++)
		rest[tree->nodes[i].parent] -= tree->nodes[i].total + tree->nodes[i].total_before;
	for (size_t i = 0; i < tree->nr; i++)
		REQUIRE(rest[i] == 0);
	free(rest);
}

/* The input, to be read; input_bytes__release() is due. */
static inline void open_stacks(struct input_bytes *bytes, const uint8_t *data, size_t size)
{
	int fd = dup(open_input(data, size));

	REQUIRE(fd >= 0 && lseek(fd, 0, SEEK_SET) == 0);
	REQUIRE(input_bytes__open(bytes, fd) == 0);
}

/* Of a reading that has ended. Releases its tree. */
static inline void require_reading(const struct reading *reading)
{
	struct flame_tree *tree = reading->tree;

	REQUIRE((reading->stacks > 0) == (tree->nr > 0));
	REQUIRE(tree->nr == 0 ||
		tree->nodes[0].total + tree->nodes[0].total_before == reading->sum);
	REQUIRE(reading->sum <= INT64_MAX);
	for (size_t i = 0; i < tree->nr; i++) {
		require_clean(tree->nodes[i].text);
		if (tree->nodes[i].module)
			require_clean(tree->nodes[i].module);
	}
	require_clean(reading->unit);
	require_sums(tree);
	flame_tree__release(tree);
}

/* A target that has a reader read its input. */
#define FUZZ_READER(read)                                                                          \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                               \
	{                                                                                          \
		struct flame_tree tree = {0};                                                      \
		struct reading reading = {.tree = &tree};                                          \
		struct input_bytes bytes;                                                          \
                                                                                                   \
		open_stacks(&bytes, data, size);                                                   \
		REQUIRE(read(&reading, &bytes) == 0);                                              \
		input_bytes__release(&bytes);                                                      \
		require_reading(&reading);                                                         \
		return 0;                                                                          \
	}

#endif
