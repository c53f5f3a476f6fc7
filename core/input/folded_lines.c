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
#include "sym/util/text_set.h"

/* What the lines of a file have in common. */
struct folded_file {
	struct input_line line;
	struct read_stack stack;
	uint64_t rounded; /* lines with a number that had a fraction */
	/*
	 * difffolded.pl writes two counts in each line, and each stack once. So a file has two
	 * counts if all its lines end in two numbers, and no stack before them is there twice: as
	 * "a;cpu 1 7" and "a;cpu 2 9" it would be, whose frames end in a number themselves. That
	 * is rare; that such frames end all lines of a file and all differ in more than the number
	 * is so rare that their file is refused, too.
	 */
	bool has_others;	/* lines or stacks of which one is not as difffolded.pl writes */
	struct text_set stacks; /* before two counts, as long as all are so */
};

static void folded_file__release(struct folded_file *file)
{
	input_line__release(&file->line);
	read_stack__release(&file->stack);
	text_set__release(&file->stacks);
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

/* The length of the stack before a number behind the last frame, whose count has been taken; or 0.
 */
static size_t before_two_counts(const struct input_line *line)
{
	size_t at = line->length;

	while (at > 0 && isdigit((unsigned char)line->text[at - 1]))
		at--;
	if (at == line->length || at == 0 || !isblank((unsigned char)line->text[at - 1]))
		return 0;
	while (at > 0 && isblank((unsigned char)line->text[at - 1]))
		at--;
	return at;
}

/* Returns 0 or -ENOMEM. */
static int look_for_two_counts(struct folded_file *file)
{
	size_t length = before_two_counts(&file->line), nr = file->stacks.nr;
	CLEANUP_FREE char *stack = NULL;
	uint32_t number;

	if (file->has_others)
		return 0;
	stack = strndup(file->line.text, length);
	if (!stack || (length && text_set__add(&file->stacks, stack, &number)))
		return -ENOMEM;
	if (length == 0 || file->stacks.nr == nr) {
		file->has_others = true;
		text_set__release(&file->stacks);
	}
	return 0;
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
	if (look_for_two_counts(file) || split(&file->line, &file->stack))
		return -ENOMEM;
	return reading__add(reading, &file->stack, weight, number);
}

static void tell(struct reading *reading, const struct folded_file *file)
{
	if (reading->stacks > 0 && !file->has_others)
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
