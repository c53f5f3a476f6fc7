// SPDX-License-Identifier: GPL-2.0-or-later
/* A line for each stack, which is an object of JSON. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "core/format/format.h"
#include "core/report/frame_json.h"
#include "core/report/json.h"
#include "core/trace/stacks.h"

static void print_stack(FILE *out, const struct shown_stacks *shown,
			const struct counted_stack *item, const struct frames *frames,
			uint32_t hidden)
{
	const char *separator = "";

	for (uint32_t i = hidden; i < frames->nr; i++) {
		const struct sym_query *query = shown_stacks__answer(shown, item, frames, i);

		for (uint32_t level = 0; level < frame_text__levels(frames->frames[i], query);
		     level++) {
			char text[FRAME_JSON_MAX];

			frame_json__write(frames->frames[i], query, level, true, text);
			fprintf(out, "%s%s", separator, text);
			separator = ",";
		}
	}
}

static int write_json(FILE *out, const struct shown_stacks *shown)
{
	for (size_t i = 0; i < shown->counts->nr; i++) {
		const struct counted_stack *item = &shown->counts->items[i];
		const char *container = counted_stack__container(shown, item);
		char comm[JSON_STRING_SIZE(COMM_LEN)], id[JSON_STRING_SIZE(NAME_MAX)];

		fprintf(out, "{\"count\":%" PRIu64, item->count);
		if (shown_stacks__have_weights(shown))
			fprintf(out, ",\"nanoseconds\":%" PRIu64, item->weight);
		if (shown->comms) {
			json__quote(item->key.comm, strnlen(item->key.comm, COMM_LEN), comm,
				    sizeof(comm));
			fprintf(out, ",\"comm\":%s,\"pid\":%" PRIu32, comm, item->key.tgid);
		}
		if (shown->threads)
			fprintf(out, ",\"tid\":%" PRIu32, item->key.tid);
		if (container) {
			json__quote(container, strlen(container), id, sizeof(id));
			fprintf(out, ",\"container\":%s", id);
		}
		fputs(",\"kernel\":[", out);
		print_stack(out, shown, item, item->kernel, item->hidden);
		fputs("],\"user\":[", out);
		print_stack(out, shown, item, item->user, 0);
		fputs("]}\n", out);
	}
	return 0;
}

const struct format format_json = {
	.name = "json",
	.suffix = ".json",
	.starts = true,
	.write = write_json,
};
