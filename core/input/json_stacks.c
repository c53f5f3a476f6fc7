// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/json_stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "core/input/bytes.h"
#include "core/input/frame_kind.h"
#include "core/input/json_reader.h"
#include "core/input/reading.h"
#include "core/input/stack.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/* Frames of one member of a stack, among those that have been read, from the leaf. */
struct json_part {
	size_t first, nr;
};

struct json_stack {
	uint64_t line; /* where it begins */
	uint64_t weight, lost;
	bool has_nanoseconds, has_frames;
	const char *comm; /* or NULL */
	struct json_part kernel, user;
};

struct json_file_reader {
	struct reading *reading;
	struct json_reader json;
	struct read_stack frames; /* in the order of the file */
	struct read_stack whole;  /* from the root; its texts are those of frames */
	uint64_t lost;
};

static void release(struct json_file_reader *reader)
{
	json_reader__release(&reader->json);
	read_stack__release(&reader->frames);
	read_stack__release(&reader->whole);
}

static bool is_text(const struct json_reader *json, const char *text)
{
	return json->length == strlen(text) && !memcmp(json->text, text, json->length);
}

/* ---- a frame ---- */

struct json_frame {
	const char *module; /* or NULL */
	char *name;	    /* or NULL */
	size_t kind;	    /* enum flame_kind; NR_FLAME_KINDS: not told */
	bool inlined, unnamed;
};

/* A text becomes one of the frame; anything else, as null, is skipped. */
static void take_text(struct json_file_reader *reader, char **text)
{
	if (json_reader__next(&reader->json) != '"')
		json_reader__skip(&reader->json);
	else if (json_reader__string(&reader->json))
		*text = read_stack__text(&reader->frames, reader->json.text, reader->json.length);
}

static void take_kind(struct json_file_reader *reader, size_t *kind)
{
	static const char *const words[NR_FLAME_KINDS] = {
		[FLAME_USER] = "user",	     [FLAME_KERNEL] = "kernel",
		[FLAME_INLINED] = "inlined", [FLAME_GENERATED] = "generated",
		[FLAME_MARK] = "mark",
	};

	if (json_reader__next(&reader->json) != '"') {
		json_reader__skip(&reader->json);
		return;
	}
	if (!json_reader__string(&reader->json))
		return;
	for (size_t i = 0; i < NR_FLAME_KINDS; i++)
		if (words[i] && is_text(&reader->json, words[i]))
			*kind = i;
}

static void take_flag(struct json_reader *json, bool *flag)
{
	*flag = json_reader__next(json) == 't';
	json_reader__skip(json);
}

static void take_frame_member(struct json_file_reader *reader, struct json_frame *frame)
{
	char *module = NULL;

	if (is_text(&reader->json, "name")) {
		take_text(reader, &frame->name);
	} else if (is_text(&reader->json, "module")) {
		take_text(reader, &module);
		frame->module = module;
	} else if (is_text(&reader->json, "kind")) {
		take_kind(reader, &frame->kind);
	} else if (is_text(&reader->json, "inlined")) {
		take_flag(&reader->json, &frame->inlined);
	} else if (is_text(&reader->json, "unnamed")) {
		take_flag(&reader->json, &frame->unnamed);
	} else {
		json_reader__skip(&reader->json);
	}
}

/* Events of stacksnoop do not tell kinds: inlined calls are told, and marks look like them. */
static enum flame_kind kind_of(const struct json_frame *frame, bool in_kernel)
{
	if (frame->unnamed)
		return FLAME_UNKNOWN;
	if (frame->kind != NR_FLAME_KINDS)
		return (enum flame_kind)frame->kind;
	return frame_kind__of_name(frame->name, frame->inlined ? FLAME_INLINED :
						in_kernel      ? FLAME_KERNEL :
								 FLAME_USER);
}

/* Returns 0 or -ENOMEM. */
static int take_frame(struct json_file_reader *reader, bool in_kernel)
{
	struct json_frame frame = {.kind = NR_FLAME_KINDS};
	bool first = true;

	if (!json_reader__take(&reader->json, '{'))
		return 0;
	while (json_reader__member(&reader->json, &first))
		take_frame_member(reader, &frame);
	if (!frame.name)
		return read_stack__add_unknown(&reader->frames, frame.module);
	return read_stack__add(&reader->frames, frame.name, frame.module,
			       kind_of(&frame, in_kernel));
}

/* Returns 0 or -ENOMEM. */
static int take_frames(struct json_file_reader *reader, struct json_part *part, bool in_kernel)
{
	bool first = true;
	int err = 0;

	part->first = reader->frames.nr;
	if (!json_reader__take(&reader->json, '['))
		return 0;
	while (!err && json_reader__element(&reader->json, &first))
		err = take_frame(reader, in_kernel);
	part->nr = reader->frames.nr - part->first;
	return err;
}

/* ---- a stack ---- */

static int take_member(struct json_file_reader *reader, struct json_stack *stack)
{
	struct json_reader *json = &reader->json;
	uint64_t count;
	char *comm = NULL;

	if (is_text(json, "kernel") || is_text(json, "user")) {
		bool in_kernel = is_text(json, "kernel");

		stack->has_frames = true;
		return take_frames(reader, in_kernel ? &stack->kernel : &stack->user, in_kernel);
	}
	if (is_text(json, "count")) {
		if (json_reader__number(json, &count) && !stack->has_nanoseconds)
			stack->weight = count;
	} else if (is_text(json, "nanoseconds")) {
		stack->has_nanoseconds = json_reader__number(json, &stack->weight);
	} else if (is_text(json, "lost")) {
		json_reader__number(json, &stack->lost);
	} else if (is_text(json, "comm")) {
		take_text(reader, &comm);
		stack->comm = comm;
	} else {
		json_reader__skip(json);
	}
	return 0;
}

static int add_reversed(struct json_file_reader *reader, struct json_part part)
{
	int err = 0;

	for (size_t i = part.nr; i-- > 0 && !err;) {
		const struct flame_frame *frame = &reader->frames.frames[part.first + i];

		err = read_stack__add(&reader->whole, frame->text, frame->module, frame->kind);
	}
	return err;
}

/* From the root: the process, what it was doing, and what the kernel was. */
static int add_stack(struct json_file_reader *reader, const struct json_stack *stack)
{
	int err;

	read_stack__clear(&reader->whole);
	reader->whole.cut = reader->frames.cut;
	err = read_stack__add(&reader->whole, stack->comm, NULL, FLAME_PROCESS);
	if (!err)
		err = add_reversed(reader, stack->user);
	if (!err)
		err = add_reversed(reader, stack->kernel);
	if (err)
		return err;
	if (stack->has_nanoseconds)
		strcpy(reader->reading->unit, "nanoseconds");
	return reading__add(reader->reading, &reader->whole, stack->weight, stack->line);
}

static void refuse(struct reading *reading)
{
	reading__refuse(reading, "is JSON of another kind than -o FILE.json and stacksnoop --json "
				 "write");
}

/* Returns 0 or -ENOMEM. */
static int take_stack(struct json_file_reader *reader)
{
	struct json_stack stack = {.line = reader->json.line, .weight = 1};
	bool first = true;
	int err = 0;

	read_stack__clear(&reader->frames);
	json_reader__take(&reader->json, '{');
	while (!err && json_reader__member(&reader->json, &first))
		err = take_member(reader, &stack);
	reader->lost += stack.lost;
	if (err || reader->json.fault || stack.lost)
		return err;
	if (stack.has_frames)
		return add_stack(reader, &stack);
	if (reader->reading->stacks + reader->reading->bad == 0)
		refuse(reader->reading);
	else
		reading__set_bad(reader->reading, stack.line, "it has no frames");
	return 0;
}

int json_stacks__read(struct reading *reading, struct input_bytes *bytes)
{
	CLEANUP(release) struct json_file_reader reader = {.reading = reading};
	int err = read_stack__init(&reader.frames), next;

	if (!err)
		err = read_stack__init(&reader.whole);
	json_reader__init(&reader.json, bytes);
	while (!err && !reading->refused[0] && (next = json_reader__next(&reader.json)) != EOF) {
		uint64_t line = reader.json.line;

		if (next == '[' && reading->stacks + reading->bad == 0) {
			refuse(reading);
			break;
		}
		err = take_stack(&reader);
		if (!reader.json.fault)
			continue;
		err = reader.json.no_memory ? -ENOMEM : err;
		reading__set_bad(reading, line, reader.json.fault);
		json_reader__skip_line(&reader.json);
	}
	if (reader.lost)
		reading__note(reading, "%" PRIu64 " events had been lost when it was written",
			      reader.lost);
	return err;
}
