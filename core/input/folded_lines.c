// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/folded_lines.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/input/bytes.h"
#include "core/input/frame_kind.h"
#include "core/input/reading.h"
#include "core/input/stack.h"
#include "sym/util/cleanup.h"
#include "sym/util/number.h"
#include "sym/util/text.h"

/* What the lines of a file have in common. */
struct folded_file {
	struct input_line line;
	struct read_stack stack;
	uint64_t rounded;    /* lines with a number that had a fraction */
	uint64_t two_counts; /* lines that end in two numbers */
};

static void folded_file__release(struct folded_file *file)
{
	input_line__release(&file->line);
	read_stack__release(&file->stack);
}

/*
 * Take the number from the end of the line. Returns NULL, or why there is none. flamegraph.pl and
 * tools that count time allow a fraction.
 */
static const char *take_weight(struct input_line *line, uint64_t *weight, bool *rounded)
{
	size_t at = line->length;
	char *number, *point;
	bool up;

	while (at > 0 && !isblank((unsigned char)line->text[at - 1]))
		at--;
	number = line->text + at;
	if (strlen(number) < line->length - at)
		return "no count at its end";
	point = strchr(number, '.');
	*rounded = point != NULL;
	if (point && point[1 + strspn(point + 1, "0123456789")])
		return "no count at its end";
	up = point && point[1] >= '5';
	if (point)
		*point = '\0';
	switch (number__parse(number, 0, UINT64_MAX - 1, weight)) {
	case 0:
		break;
	case -ERANGE:
		return "its count is too large";
	default:
		return "no count at its end";
	}
	*weight += up;
	while (at > 0 && isblank((unsigned char)line->text[at - 1]))
		at--;
	line->length = at;
	return at == 0 ? "no stack before its count" : NULL;
}

/* Returns 0 or -ENOMEM. */
static int split(const struct input_line *line, struct read_stack *stack)
{
	const char *end = line->text + line->length;
	bool kernel = false;
	int err = 0;

	read_stack__clear(stack);
	for (const char *from = line->text; from <= end && !err;) {
		enum flame_kind otherwise = kernel ? FLAME_KERNEL : FLAME_USER;
		const char *semicolon = memchr(from, ';', (size_t)(end - from));
		size_t length = (size_t)((semicolon ? semicolon : end) - from);
		char *text = length ? read_stack__text(stack, from, length) : NULL;

		if (text && from == line->text && semicolon)
			err = read_stack__add(stack, text, NULL,
					      frame_kind__of_thread(text, otherwise));
		else if (text)
			err = read_stack__add(stack, text, NULL,
					      frame_kind__of_name(text, otherwise));
		else if (length == 0)
			err = read_stack__add_unknown(stack, NULL);
		kernel |= text && !strcmp(text, "-");
		from += length + 1;
	}
	return err;
}

/* True if a number stands behind the last frame as well, whose count has been taken. */
static bool has_two_counts(const struct input_line *line)
{
	size_t at = line->length;

	while (at > 0 && isdigit((unsigned char)line->text[at - 1]))
		at--;
	return at > 0 && at < line->length && isblank((unsigned char)line->text[at - 1]);
}

/* Returns 0 or -ENOMEM. */
static int add_line(struct reading *reading, struct folded_file *file, uint64_t number)
{
	uint64_t weight;
	bool rounded;
	const char *reason =
		file->line.cut ? "longer than 1 MB" : take_weight(&file->line, &weight, &rounded);

	if (reason) {
		reading__set_bad(reading, number, reason);
		return 0;
	}
	file->rounded += rounded;
	file->two_counts += has_two_counts(&file->line);
	if (split(&file->line, &file->stack))
		return -ENOMEM;
	return reading__add(reading, &file->stack, weight, number);
}

/* One line can have a frame that ends in a number. */
static void tell(struct reading *reading, const struct folded_file *file)
{
	if (reading->stacks > 1 && file->two_counts == reading->stacks)
		reading__refuse(reading, "has two counts in each line, as difffolded.pl writes; "
					 "compare two files by --diff BEFORE AFTER");
	if (file->rounded)
		reading__note(reading, "%" PRIu64 " counts have a fraction, and were rounded",
			      file->rounded);
}

int folded_lines__read(struct reading *reading, struct input_bytes *bytes)
{
	CLEANUP(folded_file__release) struct folded_file file = {0};

	if (input_line__init(&file.line) || read_stack__init(&file.stack))
		return -ENOMEM;
	for (uint64_t number = 1; input_bytes__line(bytes, &file.line); number++)
		if (file.line.length > 0 && add_line(reading, &file, number))
			return -ENOMEM;
	tell(reading, &file);
	return 0;
}
