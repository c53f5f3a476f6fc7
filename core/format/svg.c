// SPDX-License-Identifier: GPL-2.0-or-later
/* A flame graph in a file of its own. */
#include "core/format/flame_picture.h"
#include "core/format/flame_stacks.h"
#include "core/format/flame_tree.h"
#include "core/format/format.h"
#include "sym/util/cleanup.h"

static int write_svg(FILE *out, const struct shown_stacks *shown)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	char title[512], about[512];
	const struct flame_picture picture = {
		.tree = &tree, .title = title, .about = about, .unit = shown->unit};
	int err = flame_tree__of_stacks(&tree, shown);

	if (err)
		return err;
	flame_title(title, sizeof(title));
	flame_about(shown, about, sizeof(about));
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
	return flame_picture__write(out, &picture);
}

const struct format format_svg = {
	.name = "svg",
	.suffix = ".svg",
	.whole = true,
	.write = write_svg,
};
