// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file of speedscope (its file-format-schema.json): profiles of processes, whose stacks are lists
 * of numbers of frames that all of them share.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/format/about.h"
#include "core/format/format.h"
#include "core/report/json.h"
#include "core/trace/stacks.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/text_set.h"

struct speedscope {
	FILE *out;
	const struct shown_stacks *shown;
	struct text_set frames; /* objects of JSON */
	int err;		/* 0 or -ENOMEM */
};

static void print_string(FILE *out, const char *text)
{
	char quoted[JSON_STRING_SIZE(FRAME_NAME_MAX)];

	json__quote(text, strlen(text), quoted, sizeof(quoted));
	fputs(quoted, out);
}

/* ---- frames ---- */

/* Write the number of a frame, behind those of its callers. */
static void print_frame(struct speedscope *speedscope, const char *name, const char *file,
			uint32_t line, bool *first)
{
	char quoted[JSON_STRING_SIZE(FRAME_NAME_MAX)], text[3 * sizeof(quoted)];
	size_t length;
	uint32_t number = 0;

	json__quote(name, strlen(name), quoted, sizeof(quoted));
	length = (size_t)snprintf(text, sizeof(text), "{\"name\":%s", quoted);
	if (file) {
		json__quote(file, strlen(file), quoted, sizeof(quoted));
		length += (size_t)sprintf(text + length, ",\"file\":%s", quoted);
	}
	if (file && line)
		length += (size_t)sprintf(text + length, ",\"line\":%" PRIu32, line);
	strcpy(text + length, "}");
	if (text_set__add(&speedscope->frames, text, &number))
		speedscope->err = -ENOMEM;
	fprintf(speedscope->out, "%s%" PRIu32, *first ? "" : ",", number);
	*first = false;
}

/* Without a name the module says more than nothing. */
static void print_function(struct speedscope *speedscope, uint64_t frame,
			   const struct sym_query *query, bool *first)
{
	char name[FRAME_NAME_MAX];

	frame_text__function(query, frame_tag(frame) == FRAME_KERNEL, name);
	print_frame(speedscope, name, query->source.file ? query->source.file : query->module,
		    query->source.line, first);
}

/* Root first, and inlined calls behind the function that they are in. */
static void print_levels(struct speedscope *speedscope, uint64_t frame,
			 const struct sym_query *query, bool *first)
{
	uint32_t inlined = query ? frame_text__inlined(query) : 0;
	char text[FRAME_TEXT_MAX];

	if (query)
		print_function(speedscope, frame, query, first);
	if (!query || inlined < query->nr_inlined) {
		frame_text__write(&speedscope->shown->style, frame, query, inlined, text);
		print_frame(speedscope, text, NULL, 0, first);
	}
	while (inlined-- > 0) {
		const struct sym_inlined *call = &query->inlined[inlined];
		char name[FRAME_NAME_MAX];

		frame_text__call(call, name);
		print_frame(speedscope, name, call->source.file, call->source.line, first);
	}
}

static void print_frames(struct speedscope *speedscope, const struct counted_stack *item,
			 const struct frames *frames, uint32_t hidden, bool *first)
{
	for (uint32_t i = frames->nr; i-- > hidden;)
		print_levels(speedscope, frames->frames[i],
			     shown_stacks__answer(speedscope->shown, item, frames, i), first);
}

/* ---- profiles ---- */

/* By process, and then by thread. */
static int compare_stacks(const void *left, const void *right)
{
	const struct counted_stack *a = *(const struct counted_stack *const *)left;
	const struct counted_stack *b = *(const struct counted_stack *const *)right;
	int order = COMPARE(a->key.tgid, b->key.tgid);

	if (!order)
		order = memcmp(a->key.comm, b->key.comm, COMM_LEN);
	return order ? order : COMPARE(a->key.tid, b->key.tid);
}

static bool share_profile(const struct shown_stacks *shown, const struct counted_stack *a,
			  const struct counted_stack *b)
{
	return shown->merged ||
	       (a->key.tgid == b->key.tgid && !memcmp(a->key.comm, b->key.comm, COMM_LEN) &&
		(!shown->thread_ids || a->key.tid == b->key.tid));
}

static void print_sample(struct speedscope *speedscope, const struct counted_stack *item)
{
	char who[WHO_MAX];
	bool first = true;

	fputc('[', speedscope->out);
	if (speedscope->shown->merged && speedscope->shown->comms) {
		counted_stack__who(speedscope->shown, item, false, who);
		print_frame(speedscope, who, NULL, 0, &first);
	}
	print_frames(speedscope, item, item->user, 0, &first);
	print_frames(speedscope, item, item->kernel, item->hidden, &first);
	fputc(']', speedscope->out);
}

static bool counts_time(const struct shown_stacks *shown)
{
	return shown->cost && !shown->counts_times && !strcmp(shown->cost_unit, "nanoseconds");
}

static uint64_t weight_of(const struct shown_stacks *shown, const struct counted_stack *item)
{
	return counts_time(shown) ? shown_stacks__cost(shown, item) : item->count;
}

static void print_name(struct speedscope *speedscope, const struct counted_stack *item)
{
	char comm[COMM_LEN + 1], id[THREAD_ID_MAX], name[64];

	if (speedscope->shown->merged || !speedscope->shown->comms) {
		print_string(speedscope->out, speedscope->shown->unit);
		return;
	}
	counted_stack__comm(item, false, comm);
	counted_stack__thread(speedscope->shown, item, id);
	if (!*id)
		sprintf(id, "%" PRIu32, item->key.tgid);
	snprintf(name, sizeof(name), "%s (%s)", comm, id);
	print_string(speedscope->out, name);
}

/* The stacks of one process or thread, or of all. */
struct group {
	const struct counted_stack *const *items;
	size_t nr;
	uint64_t weight;
};

static void print_profile(struct speedscope *speedscope, const struct group *group)
{
	const struct shown_stacks *shown = speedscope->shown;

	fputs("{\"type\":\"sampled\",\"name\":", speedscope->out);
	print_name(speedscope, group->items[0]);
	fprintf(speedscope->out,
		",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\"samples\":[",
		counts_time(shown) ? "nanoseconds" : "none", group->weight);
	for (size_t i = 0; i < group->nr; i++) {
		fputs(i ? ",\n" : "\n", speedscope->out);
		print_sample(speedscope, group->items[i]);
	}
	fputs("],\"weights\":[", speedscope->out);
	for (size_t i = 0; i < group->nr; i++)
		fprintf(speedscope->out, "%s%" PRIu64, i ? "," : "",
			weight_of(shown, group->items[i]));
	fputs("]}", speedscope->out);
}

/* The heaviest is what speedscope shows first. */
static int compare_weights(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	int order = COMPARE(b->weight, a->weight);

	return order ? order : compare_stacks(a->items, b->items);
}

/* The profiles of items, which are sorted by process; returns their number. */
static size_t make_groups(const struct shown_stacks *shown,
			  const struct counted_stack *const *items, size_t nr, struct group *groups)
{
	size_t nr_groups = 0;

	for (size_t i = 0; i < nr; i++) {
		if (i == 0 || !share_profile(shown, items[i - 1], items[i]))
			groups[nr_groups++] = (struct group){.items = &items[i]};
		groups[nr_groups - 1].nr++;
		groups[nr_groups - 1].weight += weight_of(shown, items[i]);
	}
	array__sort(groups, nr_groups, sizeof(*groups), compare_weights);
	return nr_groups;
}

static int write_speedscope(FILE *out, const struct shown_stacks *shown)
{
	struct speedscope speedscope = {.out = out, .shown = shown};
	size_t nr = shown->counts->nr;
	CLEANUP_FREE const struct counted_stack **items = calloc(nr + 1, sizeof(*items));
	CLEANUP_FREE struct group *groups = calloc(nr + 1, sizeof(*groups));
	char about[1024];
	size_t nr_groups;

	if (!items || !groups)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		items[i] = &shown->counts->items[i];
	array__sort(items, nr, sizeof(*items), compare_stacks);
	nr_groups = make_groups(shown, items, nr, groups);
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"tracekit\",\"name\":",
	      out);
	about__command_line(about, sizeof(about));
	print_string(out, about);
	fputs(",\"profiles\":[", out);
	for (size_t i = 0; i < nr_groups; i++) {
		fputs(i ? ",\n" : "\n", out);
		print_profile(&speedscope, &groups[i]);
	}
	fputs("],\n\"shared\":{\"frames\":[", out);
	for (size_t i = 0; i < speedscope.frames.nr; i++)
		fprintf(out, "%s%s", i ? ",\n" : "\n", speedscope.frames.texts[i]);
	fputs("]}}\n", out);
	text_set__release(&speedscope.frames);
	return speedscope.err;
}

const struct format format_speedscope = {
	.name = "speedscope",
	.suffix = ".speedscope.json",
	.whole = true,
	.starts = true,
	.write = write_speedscope,
};
