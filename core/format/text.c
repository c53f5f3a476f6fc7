// SPDX-License-Identifier: GPL-2.0-or-later
/* Blocks of lines: a stack from its leaf, its process, its count. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/format/format.h"
#include "core/format/merged.h"
#include "core/format/summary.h"
#include "core/trace/containers.h"
#include "core/trace/stacks.h"
#include "sym/types.h"
#include "sym/util/cleanup.h"
#include "sym/util/text.h"

/*
 * A mark has no address; neither has a frame of which only the file is known. Names stay in their
 * column.
 */
static void print_address(FILE *out, const struct sym_query *query)
{
	if (query && !query->in_file)
		fprintf(out, "%-16" PRIx64 " ", query->address);
	else
		fprintf(out, "%-16s ", "-");
}

/* A line for each function that the address is in. */
static void print_frame(FILE *out, const struct shown_stacks *shown, uint64_t frame,
			const struct sym_query *query)
{
	for (uint32_t level = 0; level < frame_text__levels(frame, query); level++) {
		fputs(shown->layout->frame_indent, out);
		if (shown->style.verbose)
			print_address(out, query);
		frame_text__print(out, &shown->style, frame, query, level);
		fputc('\n', out);
	}
}

static void print_lines(FILE *out, const struct shown_stacks *shown,
			const struct counted_stack *item, const struct frames *frames,
			uint32_t hidden)
{
	for (uint32_t i = hidden; i < frames->nr; i++)
		print_frame(out, shown, frames->frames[i],
			    shown_stacks__answer(shown, item, frames, i));
}

/* As other tools show it: the beginning of the ID. */
static void print_container(FILE *out, const char *id)
{
	char clean[CONTAINER_SHORT + 1];

	text__clean(id, strlen(id), false, clean, sizeof(clean));
	fprintf(out, " container %s", clean);
}

/* Of what lasts the number is wanted beside the time. item: a sum. */
static void print_value(FILE *out, const struct shown_stacks *shown,
			const struct counted_stack *item, const struct stack_totals *all)
{
	const struct stack_totals own = {.count = item->count, .weight = item->weight};
	struct shown_stacks timed = *shown;

	timed.counts_times = false;
	fprintf(out, "%s%" PRIu64, shown->layout->count_indent, shown_stacks__value(&timed, item));
	if (shown->counts_times)
		fprintf(out, " in %" PRIu64 " %.*s", item->count,
			(int)strlen(shown->unit) - (item->count == 1), shown->unit);
	if (shown->shares)
		fprintf(out, " (%.1f%%)", shown_stacks__percent(shown, own, *all));
	fputs("\n\n", out);
}

static void print_total(FILE *out, const struct shown_stacks *shown, const struct stack_totals *all)
{
	char text[128];

	shown_stacks__write_totals(shown, *all, text, sizeof(text));
	fprintf(out, "%stotal: %s\n\n", shown->layout->count_indent, text);
}

/* All but the numbers. */
static void print_stack(FILE *out, const struct shown_stacks *shown,
			const struct counted_stack *item)
{
	char comm[COMM_LEN + 1], id[THREAD_ID_MAX];
	const char *container;

	print_lines(out, shown, item, item->kernel, item->hidden);
	if (shown_stacks__delimits(shown, item))
		fputs("    --\n", out);
	print_lines(out, shown, item, item->user, 0);
	if (shown->processes) {
		container = counted_stack__container(shown, item);
		counted_stack__comm(item, false, comm);
		counted_stack__thread(shown, item, id);
		if (!*id)
			sprintf(id, "%" PRIu32, shown->threads ? item->key.tid : item->key.tgid);
		shown->layout->print_process(out, comm, id);
		if (container)
			print_container(out, container);
		fputc('\n', out);
	}
}

static int write_text(FILE *out, const struct shown_stacks *shown)
{
	CLEANUP(merged_stacks__release) struct merged_stacks merged = {0};
	const struct stack_totals all = shown_stacks__totals(shown);

	if (merged_stacks__make(&merged, shown, print_stack))
		return -ENOMEM;
	for (size_t i = 0; i < merged.texts.nr; i++) {
		fputs(merged.texts.texts[merged.items[i].text], out);
		print_value(out, shown, &merged.items[i].sum, &all);
	}
	if (shown->shares)
		print_total(out, shown, &all);
	return 0;
}

const struct format format_text = {
	.name = "text",
	.suffix = ".txt",
	.write = write_text,
};
