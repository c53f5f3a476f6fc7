// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "sym/util/cleanup.h"
#include "test/unit/read_stacks.h"
#include "test/unit/tap.h"

struct bytes {
	unsigned char bytes[4096];
	size_t nr;
};

/* Add what gzip makes of something. */
static void compress_bytes(struct bytes *bytes, const void *from, size_t size)
{
	z_stream stream = {.next_in = (unsigned char *)(uintptr_t)from,
			   .avail_in = (unsigned int)size};

	CHECK_INT(deflateInit2(&stream, 6, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_out = bytes->bytes + bytes->nr;
	stream.avail_out = (unsigned int)(sizeof(bytes->bytes) - bytes->nr);
	CHECK_INT(deflate(&stream, Z_FINISH), Z_STREAM_END);
	bytes->nr += stream.total_out;
	deflateEnd(&stream);
}

static void add_gzip(struct bytes *bytes, const char *text)
{
	compress_bytes(bytes, text, strlen(text));
}

static void compressed(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	struct reading reading = {.tree = &tree};
	struct bytes bytes = {.nr = 0};

	/* Files of gzip can follow each other; what follows them and is none is left out, as by it.
	 */
	add_gzip(&bytes, "main;work 3\nmain");
	add_gzip(&bytes, ";idle 4\n");
	memcpy(bytes.bytes + bytes.nr, "padding", 7);
	read_bytes(&reading, bytes.bytes, bytes.nr + 7);
	CHECK_STR(reading.refused, "");
	CHECK_STR(in_order(&tree), "1 main u 0, 2 idle u 4, 2 work u 3");
}

/* Whatever it made of its stacks. */
static void damaged(void)
{
	static const struct {
		int missing;
		size_t changed; /* a byte, from the end */
		const char *refused;
	} cases[] = {
		{1, 0, "is compressed by gzip, and cut off before its end"},
		{9, 0, "is compressed by gzip, and cut off before its end"},
		{0, 6, "is compressed by gzip, and damaged"}, /* its checksum */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(flame_tree__release) struct flame_tree tree = {0};
		struct reading reading = {.tree = &tree};
		struct bytes bytes = {.nr = 0};

		add_gzip(&bytes, "main;work 3\nno stack\n");
		if (cases[i].changed)
			bytes.bytes[bytes.nr - cases[i].changed] ^= 1;
		read_bytes(&reading, bytes.bytes, bytes.nr - (size_t)cases[i].missing);
		CHECK_STR(reading.refused, cases[i].refused);
		CHECK_INT(reading.bad, 0);
	}
}

static void twice(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	struct reading reading = {.tree = &tree};
	struct bytes once = {.nr = 0}, bytes = {.nr = 0};

	add_gzip(&once, "a 1\n");
	compress_bytes(&bytes, once.bytes, once.nr);
	read_bytes(&reading, bytes.bytes, bytes.nr);
	CHECK_STR(reading.refused, "is compressed by gzip more than once");
}

/* All that is left, with a bound. */
static void all(void)
{
	static unsigned char data[300 * 1000];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i % 251);
	for (size_t max = sizeof(data) - 1; max <= sizeof(data); max++) {
		CLEANUP(input_bytes__release) struct input_bytes bytes = {0};
		CLEANUP_FREE unsigned char *read = NULL;
		size_t size = 7;

		CHECK_INT(input_bytes__open(&bytes, make_file(data, sizeof(data))), 0);
		CHECK_INT(input_bytes__next(&bytes), 0);
		CHECK_INT(input_bytes__all(&bytes, max, &read, &size),
			  max < sizeof(data) ? -EFBIG : 0);
		CHECK_INT(size, max < sizeof(data) ? 7 : sizeof(data));
		CHECK(!read || !memcmp(read, data, sizeof(data)));
	}
}

static const struct tap_test tests[] = {
	{"a file of gzip, or several behind each other", compressed},
	{"a file of gzip that is damaged or cut off", damaged},
	{"a file of gzip in another", twice},
	{"all bytes of a file, with a bound", all},
};

int main(void)
{
	return TAP_RUN(tests);
}
