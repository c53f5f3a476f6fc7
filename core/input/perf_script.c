// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/perf_script.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/input/bytes.h"
#include "core/input/frame_kind.h"
#include "core/input/perf_lines.h"
#include "core/input/reading.h"
#include "core/input/stack.h"
#include "sym/util/cleanup.h"

/* Where the file is not known the address tells: the kernel's are the upper half. */
static enum flame_kind kind_of_place(const char *file, struct part address)
{
	if (file)
		return frame_kind__of_file(file);
	return address.length == 16 && address.text[0] >= '8' ? FLAME_KERNEL : FLAME_USER;
}

/* Add the frame whose address that is. Returns 0 or -ENOMEM. */
static int add_frame(struct read_stack *stack, struct part address)
{
	struct perf_frame frame = perf_frame__parse(address);
	struct part name = frame.name, file = frame.file;
	bool inlined = part__is(file, "inlined");
	const char *path =
		file.length && !inlined ? read_stack__text(stack, file.text, file.length) : NULL;
	const char *module = path ? frame_kind__module(path) : NULL;
	char *copy;

	if (!name.length || part__is(name, "[unknown]"))
		return read_stack__add_unknown(stack, module);
	copy = read_stack__text(stack, name.text, name.length);
	if (!copy)
		return 0;
	return read_stack__add(
		stack, copy, module,
		frame_kind__of_name(copy, inlined ? FLAME_INLINED : kind_of_place(path, address)));
}

/* ---- samples ---- */

struct perf_reader {
	struct reading *reading;
	struct input_line line;
	uint64_t number;	 /* of the line */
	bool is_open;		 /* a sample has begun */
	uint64_t began;		 /* in that line */
	bool is_other;		 /* it is of another event than the first */
	struct read_stack stack; /* from the leaf, then the thread */
	const char *comm;	 /* or NULL */
	char *event;		 /* the first one; NULL: there was none */
	uint64_t others;
};

static void release(struct perf_reader *reader)
{
	input_line__release(&reader->line);
	read_stack__release(&reader->stack);
	free(reader->event);
}

/* Returns 0 or -ENOMEM. */
static int end_sample(struct perf_reader *reader)
{
	int err;

	if (!reader->is_open)
		return 0;
	reader->is_open = false;
	if (reader->is_other) {
		reader->others++;
		return 0;
	}
	err = read_stack__add(&reader->stack, reader->comm, NULL, FLAME_PROCESS);
	if (err)
		return err;
	read_stack__reverse(&reader->stack, 0);
	return reading__add(reader->reading, &reader->stack, 1, reader->began);
}

static void open_sample(struct perf_reader *reader)
{
	reader->is_open = true;
	reader->began = reader->number;
	reader->is_other = false;
	reader->comm = NULL;
	read_stack__clear(&reader->stack);
}

/* Returns 0 or -ENOMEM. */
static int take_event(struct perf_reader *reader, struct part event)
{
	if (!reader->event)
		reader->event = strndup(event.text, event.length);
	reader->is_other = reader->event && !part__is(event, reader->event);
	return reader->event ? 0 : -ENOMEM;
}

static int begin_sample(struct perf_reader *reader)
{
	struct perf_header header = perf_header__parse(reader->line.text);
	struct part address = perf_frame__address(header.rest);
	int err = end_sample(reader);

	open_sample(reader);
	if (!err)
		err = take_event(reader, header.event);
	if (!err && header.comm.length)
		reader->comm =
			read_stack__text(&reader->stack, header.comm.text, header.comm.length);
	if (!err && address.length)
		err = add_frame(&reader->stack, address);
	return err;
}

/* With -F ip,sym and no more the line of a sample is empty. */
static int take_frame(struct perf_reader *reader)
{
	if (!reader->is_open)
		open_sample(reader);
	return add_frame(&reader->stack, perf_frame__address(reader->line.text));
}

/* Returns 0 or -ENOMEM. */
static int take_line(struct perf_reader *reader)
{
	const char *text = reader->line.text;
	bool is_indented = isblank((unsigned char)text[0]);

	if (reader->line.cut) {
		reading__set_bad(reader->reading, reader->number, "longer than 1 MB");
		return 0;
	}
	if (!text[0])
		return end_sample(reader);
	if (perf_frame__is_one(text))
		return take_frame(reader);
	if (text[0] == '#' && !reader->is_open)
		return 0; /* perf script --header */
	/* A source line, by -F srcline, stands below its frame. */
	if (is_indented && reader->is_open && !perf_header__parse(text).is_sure)
		return 0;
	return begin_sample(reader);
}

int perf_script__read(struct reading *reading, struct input_bytes *bytes)
{
	CLEANUP(release) struct perf_reader reader = {.reading = reading};
	int err = input_line__init(&reader.line);

	if (!err)
		err = read_stack__init(&reader.stack);
	while (!err && input_bytes__line(bytes, &reader.line)) {
		reader.number++;
		err = take_line(&reader);
	}
	if (!err)
		err = end_sample(&reader);
	if (reader.others)
		reading__note(reading,
			      "%" PRIu64 " samples of other events than '%.100s' are left out",
			      reader.others, reader.event);
	strcpy(reading->unit, "samples");
	return err;
}

/* ---- recognised ---- */

/* The first line that says something, or the one below, is what no other text has. */
bool perf_script__is_one(const char *text, size_t size)
{
	const char *end = text + size;
	unsigned int nr = 0;

	while (text < end && nr < 2) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);
		char line[512];

		if (length > sizeof(line) - 1)
			length = sizeof(line) - 1;
		memcpy(line, text, length);
		line[length] = '\0';
		if (perf_line__is_sure(line))
			return true;
		nr += line[0] != '#' && line[strspn(line, " \t")];
		text = newline ? newline + 1 : end;
	}
	return false;
}
