// SPDX-License-Identifier: GPL-2.0-or-later
/* A line for each stack, from its root: "comm;main;work 42". */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "core/format/format.h"
#include "core/format/merged.h"
#include "core/trace/stacks.h"
#include "sym/types.h"
#include "sym/util/cleanup.h"

/* Print the separator before a word of a folded line; nothing before the first. */
static void print_separator(FILE *out, bool *first)
{
	if (!*first)
		fputc(';', out);
	*first = false;
}

/* Root first. */
static void print_folded_frames(FILE *out, const struct shown_stacks *shown,
				const struct counted_stack *item, const struct frames *frames,
				uint32_t hidden, bool *first)
{
	for (uint32_t i = frames->nr; i-- > hidden;) {
		const struct sym_query *query = shown_stacks__answer(shown, item, frames, i);

		for (uint32_t level = frame_text__levels(frames->frames[i], query); level-- > 0;) {
			print_separator(out, first);
			frame_text__print(out, &shown->style, frames->frames[i], query, level);
		}
	}
}

/* All but the number. */
static void print_line(FILE *out, const struct shown_stacks *shown,
		       const struct counted_stack *item)
{
	char who[WHO_MAX];
	bool first = true;

	if (shown->comms) {
		counted_stack__who(shown, item, true, who);
		print_separator(out, &first);
		fputs(who, out);
	}
	print_folded_frames(out, shown, item, item->user, 0, &first);
	if (shown_stacks__delimits(shown, item)) {
		print_separator(out, &first);
		fputc('-', out);
	}
	print_folded_frames(out, shown, item, item->kernel, item->hidden, &first);
	if (first)
		fputs("[unknown]", out); /* nothing is known but that it happened */
}

static int write_folded(FILE *out, const struct shown_stacks *shown)
{
	CLEANUP(merged_stacks__release) struct merged_stacks merged = {0};
	struct shown_stacks folded = *shown;

	folded.style.folded = true;
	if (merged_stacks__make(&merged, &folded, print_line))
		return -ENOMEM;
	for (size_t i = 0; i < merged.texts.nr; i++)
		fprintf(out, "%s %" PRIu64 "\n", merged.texts.texts[merged.items[i].text],
			shown_stacks__value(shown, &merged.items[i].sum));
	return 0;
}

const struct format format_folded = {
	.name = "folded",
	.suffix = ".folded",
	.write = write_folded,
};
