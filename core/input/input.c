// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/input.h"

#include <errno.h>
#include <string.h>

#include "core/input/bytes.h"
#include "core/input/folded_lines.h"
#include "core/input/json_stacks.h"
#include "core/input/kind.h"
#include "core/input/perf_script.h"
#include "core/input/pprof_stacks.h"
#include "sym/util/cleanup.h"

/* Some editors of other systems put one in front of a text (Unicode 15, 23.8). */
static void skip_byte_order_mark(struct input_bytes *bytes)
{
	if (bytes->end - bytes->at >= 3 && !memcmp(bytes->buffer + bytes->at, "\xef\xbb\xbf", 3))
		bytes->at += 3;
}

static enum input_kind recognise(struct input_bytes *bytes, const char **foreign)
{
	bool more = true;

	while (more && bytes->end - bytes->at < INPUT_KIND_BYTES)
		more = input_bytes__fill(bytes);
	skip_byte_order_mark(bytes);
	return input_kind__recognise(bytes->buffer + bytes->at, bytes->end - bytes->at, !more,
				     foreign);
}

static int read_kind(struct reading *reading, struct input_bytes *bytes)
{
	const char *foreign;

	switch (recognise(bytes, &foreign)) {
	case INPUT_FOREIGN:
		reading__refuse(reading, "%s", foreign);
		return 0;
	case INPUT_JSON:
		return json_stacks__read(reading, bytes);
	case INPUT_PPROF:
		return pprof_stacks__read(reading, bytes);
	case INPUT_PERF_SCRIPT:
		return perf_script__read(reading, bytes);
	default:
		return folded_lines__read(reading, bytes);
	}
}

/* What is wrong with a compressed file goes before what that made of its stacks. */
static int find_fault(struct reading *reading, const struct input_bytes *bytes)
{
	switch (bytes->err) {
	case -EFBIG:
		reading__refuse(reading,
				"inflates to more than 1 GB, and no more than that is read");
		return 0;
	case -EBADMSG:
		reading__refuse(reading, "is compressed by gzip, and damaged");
		return 0;
	case -ENODATA:
		reading__refuse(reading, "is compressed by gzip, and cut off before its end");
		return 0;
	default:
		return bytes->err;
	}
}

int input__read(struct reading *reading, int fd)
{
	CLEANUP(input_bytes__release) struct input_bytes bytes = {0};
	int err = input_bytes__open(&bytes, fd);

	if (!err)
		err = read_kind(reading, &bytes);
	return err ? err : find_fault(reading, &bytes);
}
