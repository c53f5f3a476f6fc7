// SPDX-License-Identifier: GPL-2.0-or-later
/* A flame graph in a file of its own. */
#include "core/format/flame_stacks.h"
#include "core/format/format.h"
#include "sym/util/cleanup.h"

static int write_svg(FILE *out, const struct shown_stacks *shown)
{
	CLEANUP(flame_stacks__release) struct flame_stacks stacks = {0};
	int err = flame_stacks__make(&stacks, shown);

	return err ? err : flame_picture__write(out, &stacks.picture);
}

const struct format format_svg = {
	.name = "svg",
	.suffix = ".svg",
	.whole = true,
	.starts = true,
	.write = write_svg,
};
