// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/format.h"

#include <inttypes.h>
#include <string.h>

#include "core/names/frame_names.h"
#include "core/trace/containers.h"
#include "core/trace/stacks.h"
#include "sym/util/text.h"

#define FORMAT_ADDRESS_(name) &format_##name,
const struct format *const formats[] = {FORMATS(FORMAT_ADDRESS_)};

#define FORMAT_NAME_(name) #name,
const char *const format_names[] = {FORMATS(FORMAT_NAME_) NULL};

/* The longest suffix counts: ".speedscope.json" is not ".json". */
size_t format__of_path(const char *path)
{
	size_t length = strlen(path), longest = 0, found = NR_FORMATS;

	for (size_t i = 0; i < NR_FORMATS; i++) {
		size_t suffix = strlen(formats[i]->suffix);

		if (suffix <= longest || length < suffix ||
		    strcmp(path + length - suffix, formats[i]->suffix) != 0)
			continue;
		longest = suffix;
		found = i;
	}
	return found;
}

const struct sym_query *shown_stacks__answer(const struct shown_stacks *shown,
					     const struct counted_stack *item,
					     const struct frames *frames, uint32_t i)
{
	uint64_t frame = frames->frames[i];

	if (frame_tag(frame) == FRAME_MARK)
		return NULL;
	return frame_names__get(shown->names, item, frame, frame__is_return_address(frame, i));
}

bool shown_stacks__have_weights(const struct shown_stacks *shown)
{
	return shown->cost && !shown->cost_each;
}

static bool shows_weights(const struct shown_stacks *shown)
{
	return shown_stacks__have_weights(shown) && !shown->counts_times;
}

/* Rounded once, from the sum. */
uint64_t shown_stacks__value(const struct shown_stacks *shown, const struct counted_stack *item)
{
	return shows_weights(shown) ? (item->weight + 500) / 1000 : item->count;
}

const char *shown_stacks__unit(const struct shown_stacks *shown)
{
	return shows_weights(shown) ? "us" : shown->unit;
}

uint64_t shown_stacks__cost(const struct shown_stacks *shown, const struct counted_stack *item)
{
	uint64_t cost;

	if (!shown->cost_each)
		return item->weight;
	return __builtin_mul_overflow(item->count, shown->cost_each, &cost) ? UINT64_MAX : cost;
}

void counted_stack__comm(const struct counted_stack *item, bool folded, char clean[COMM_LEN + 1])
{
	size_t length = strnlen(item->key.comm, COMM_LEN);

	/* A thread can call itself nothing, but a folded line has to begin with something. */
	if (!text__clean(item->key.comm, length, folded, clean, COMM_LEN + 1))
		strcpy(clean, "?");
}

void counted_stack__thread(const struct shown_stacks *shown, const struct counted_stack *item,
			   char id[THREAD_ID_MAX])
{
	*id = '\0';
	if (shown->thread_ids)
		sprintf(id, "%" PRIu32 "/%" PRIu32, item->key.tgid, item->key.tid);
}

void counted_stack__who(const struct shown_stacks *shown, const struct counted_stack *item,
			bool folded, char who[WHO_MAX])
{
	char comm[COMM_LEN + 1], id[THREAD_ID_MAX];

	counted_stack__comm(item, folded, comm);
	counted_stack__thread(shown, item, id);
	sprintf(who, "%s%s%s", comm, *id ? "-" : "", id);
}

const char *counted_stack__container(const struct shown_stacks *shown,
				     const struct counted_stack *item)
{
	return shown->containers && shown->comms ?
		       containers__find(shown->containers, item->cgroup) :
		       NULL;
}

bool shown_stacks__delimits(const struct shown_stacks *shown, const struct counted_stack *item)
{
	return shown->delimited &&
	       (shown->layout->delimits_always || (item->kernel->nr && item->user->nr));
}
