// SPDX-License-Identifier: GPL-2.0-or-later
/* A line for each stack, from its root: "comm;main;work 42". */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/format/format.h"
#include "core/trace/stacks.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/text_set.h"

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
	char comm[COMM_LEN + 1];
	bool first = true;

	if (shown->comms) {
		counted_stack__comm(item, true, comm);
		print_separator(out, &first);
		fputs(comm, out);
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

static void print_number(FILE *out, const struct shown_stacks *shown,
			 const struct counted_stack *item)
{
	fprintf(out, " %" PRIu64 "\n", shown_stacks__value(shown, item));
}

/* What the lines of a text stand for is added up. */
struct folded_sum {
	uint32_t text;
	struct counted_stack sum;
};

struct folded_sums {
	struct text_set texts;
	struct folded_sum *items; /* as many as texts */
};

static void folded_sums__release(struct folded_sums *sums)
{
	text_set__release(&sums->texts);
	free(sums->items);
}

static int folded_sums__add(struct folded_sums *sums, const struct shown_stacks *shown,
			    const struct counted_stack *item)
{
	CLEANUP_FREE char *text = NULL;
	size_t length;
	FILE *line = open_memstream(&text, &length);
	uint32_t number;

	if (!line)
		return -ENOMEM;
	print_line(line, shown, item);
	if (fclose(line) || text_set__add(&sums->texts, text, &number))
		return -ENOMEM;
	sums->items[number].text = number;
	sums->items[number].sum.count += item->count;
	sums->items[number].sum.weight += item->weight;
	return 0;
}

static int compare_sums(const void *left, const void *right)
{
	const struct folded_sum *a = left, *b = right;
	int order = COMPARE(a->sum.weight, b->sum.weight);

	return order ? order : COMPARE(a->sum.count, b->sum.count);
}

/* Lines do not tell threads apart: each text comes once. */
static int write_sums(FILE *out, const struct shown_stacks *shown)
{
	size_t nr = shown->counts->nr;
	CLEANUP(folded_sums__release)
	struct folded_sums sums = {.items = calloc(nr + 1, sizeof(*sums.items))};

	if (!sums.items)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (folded_sums__add(&sums, shown, &shown->counts->items[i]))
			return -ENOMEM;
	array__sort(sums.items, sums.texts.nr, sizeof(*sums.items), compare_sums);
	for (size_t i = 0; i < sums.texts.nr; i++) {
		fputs(sums.texts.texts[sums.items[i].text], out);
		print_number(out, shown, &sums.items[i].sum);
	}
	return 0;
}

static int write_folded(FILE *out, const struct shown_stacks *shown)
{
	struct shown_stacks folded = *shown;

	folded.style.folded = true;
	if (shown->threads)
		return write_sums(out, &folded);
	for (size_t i = 0; i < shown->counts->nr; i++) {
		print_line(out, &folded, &shown->counts->items[i]);
		print_number(out, &folded, &shown->counts->items[i]);
	}
	return 0;
}

const struct format format_folded = {
	.name = "folded",
	.suffix = ".folded",
	.write = write_folded,
};
