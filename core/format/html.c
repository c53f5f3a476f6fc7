// SPDX-License-Identifier: GPL-2.0-or-later
/* A page: a flame graph, and a table of functions beside it. */
#include "core/flame/flame_page.h"
#include "core/format/flame_stacks.h"
#include "core/format/format.h"
#include "sym/util/cleanup.h"

static int write_html(FILE *out, const struct shown_stacks *shown)
{
	CLEANUP(flame_stacks__release) struct flame_stacks stacks = {0};
	int err = flame_stacks__make(&stacks, shown);

	return err ? err : flame_page__write(out, &stacks.picture);
}

const struct format format_html = {
	.name = "html",
	.suffix = ".html",
	.whole = true,
	.starts = true,
	.write = write_html,
};
