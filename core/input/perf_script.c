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
#include "core/input/reading.h"
#include "core/input/stack.h"
#include "sym/util/cleanup.h"

/* A part of a line. */
struct part {
	const char *text;
	size_t length;
};

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* The word at text, which may stand behind blanks; empty at the end. */
static struct part word_at(const char *text)
{
	text = skip_blanks(text);
	return (struct part){text, strcspn(text, " \t")};
}

static const char *behind(struct part part)
{
	return part.text + part.length;
}

static size_t count_digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* ---- the line of a sample ---- */

/* "1234", "1234/1235" */
static bool is_pid(struct part word)
{
	size_t length = count_digits(word.text);

	if (length && word.text[length] == '/')
		length += 1 + count_digits(word.text + length + 1);
	return length && length == word.length && isdigit((unsigned char)word.text[length - 1]);
}

/* "[001]" */
static bool is_cpu(struct part word)
{
	return word.length > 2 && word.text[0] == '[' && word.text[word.length - 1] == ']' &&
	       count_digits(word.text + 1) == word.length - 2;
}

/* "5.678901:" */
static bool is_time(struct part word)
{
	size_t length = count_digits(word.text);

	if (!length || word.text[length] != '.')
		return false;
	length += 1 + count_digits(word.text + length + 1);
	return word.length == length + 1 && word.text[length] == ':';
}

struct header {
	struct part comm, event;
	bool is_sure; /* it has a CPU or a time, as no line of another kind */
	bool has_time;
	const char *rest; /* behind the event */
};

/*
 * Where the name of the thread, which can have blanks and numbers, ends: before the CPU, the time,
 * or the PID in front of these. Returns what is behind the name; NULL: there is none of it.
 */
static const char *find_sure_end(const char *text)
{
	for (struct part word = word_at(text); word.length; word = word_at(behind(word))) {
		struct part next = word_at(behind(word));

		if (is_cpu(word) || is_time(word) ||
		    (is_pid(word) && (is_cpu(next) || is_time(next))))
			return word.text;
	}
	return NULL;
}

/* The first number, or the event, or the end. */
static const char *find_likely_end(const char *text)
{
	struct part word;

	for (word = word_at(text); word.length; word = word_at(behind(word)))
		if (is_pid(word) || (behind(word)[0] == '\0' && behind(word)[-1] == ':'))
			break;
	return word.text;
}

/* The event is the first word that ends with a colon, and is no time. */
static void find_event(struct header *header, const char *text)
{
	header->rest = "";
	for (struct part word = word_at(text); word.length; word = word_at(behind(word))) {
		header->has_time |= is_time(word);
		if (word.text[word.length - 1] != ':' || is_time(word))
			continue;
		header->event = (struct part){word.text, word.length - 1};
		header->rest = behind(word);
		return;
	}
}

static struct header parse_header(const char *text)
{
	const char *start = skip_blanks(text), *end = find_sure_end(start);
	struct header header = {.is_sure = end != NULL, .comm.text = start, .event.text = ""};

	if (!end)
		end = find_likely_end(start);
	header.comm.length = (size_t)(end - start);
	while (header.comm.length && isblank((unsigned char)start[header.comm.length - 1]))
		header.comm.length--;
	find_event(&header, end);
	return header;
}

/* ---- the line of a frame ---- */

/* The digits of the address, of a line that is a frame, or is one behind an event. */
static struct part address_of(const char *text)
{
	struct part word = word_at(text);

	if (strspn(word.text, "0123456789abcdef") != word.length)
		word.length = 0;
	return word;
}

/* perf begins it with a tab; others may have made blanks of that. */
static bool is_frame(const char *text)
{
	return isblank((unsigned char)text[0]) && address_of(text).length &&
	       (text[0] == '\t' || !parse_header(text).is_sure);
}

/*
 * What stands in the last parentheses, which can have others inside: "(/tmp/a (deleted))". A name
 * has none behind a blank. Empty: there are none.
 */
static struct part find_file(struct part frame)
{
	size_t depth = 0, at = frame.length;

	if (!at || frame.text[at - 1] != ')')
		return (struct part){frame.text, 0};
	while (at-- > 0) {
		depth += frame.text[at] == ')';
		depth -= frame.text[at] == '(';
		if (depth == 0)
			break;
	}
	if (depth || (at > 0 && !isblank((unsigned char)frame.text[at - 1])))
		return (struct part){frame.text, 0};
	return (struct part){frame.text + at + 1, frame.length - at - 2};
}

/* What is before the file, without blanks and "+0x12". */
static struct part find_name(struct part frame, struct part file)
{
	struct part name = frame;
	size_t at;

	if (file.text > frame.text)
		name.length = (size_t)(file.text - 1 - frame.text);
	while (name.length && isblank((unsigned char)name.text[name.length - 1]))
		name.length--;
	at = name.length;
	while (at && isxdigit((unsigned char)name.text[at - 1]))
		at--;
	if (at < name.length && at >= 3 && !memcmp(name.text + at - 3, "+0x", 3))
		name.length = at - 3;
	return name;
}

static bool part__is(struct part part, const char *text)
{
	return part.length == strlen(text) && !memcmp(part.text, text, part.length);
}

/* Where the file is not known the address tells: the kernel's are the upper half. */
static enum flame_kind kind_of_place(const char *file, struct part address)
{
	if (file)
		return frame_kind__of_file(file);
	return address.length == 16 && address.text[0] >= '8' ? FLAME_KERNEL : FLAME_USER;
}

/* Add the frame of a line, of its address and what is behind. Returns 0 or -ENOMEM. */
static int add_frame(struct read_stack *stack, struct part address)
{
	const char *text = skip_blanks(behind(address));
	struct part frame = {text, strlen(text)}, file = find_file(frame),
		    name = find_name(frame, file);
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
	struct header header = parse_header(reader->line.text);
	struct part address = address_of(header.rest);
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
	return add_frame(&reader->stack, address_of(reader->line.text));
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
	if (is_frame(text))
		return take_frame(reader);
	if (text[0] == '#' && !reader->is_open)
		return 0; /* perf script --header */
	/* A source line, by -F srcline, stands below its frame. */
	if (is_indented && reader->is_open && !parse_header(text).is_sure)
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

/* perf gives an address 16 columns. */
static bool is_surely_frame(const char *text)
{
	struct part address = address_of(text);

	return text[0] == '\t' && address.length && behind(address) - text >= 17;
}

static bool is_surely_header(const char *text)
{
	struct header header = parse_header(text);

	return header.is_sure && header.has_time && header.event.length;
}

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
		if (is_surely_frame(line) || is_surely_header(line))
			return true;
		nr += line[0] != '#' && *skip_blanks(line);
		text = newline ? newline + 1 : end;
	}
	return false;
}
