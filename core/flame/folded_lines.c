// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/flame/folded_lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/flame/flame_tree.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/number.h"
#include "sym/util/text.h"

/* ---- one line ---- */

struct line {
	char *text; /* FOLDED_LINE_MAX + 1 bytes */
	size_t length;
	bool cut;    /* it is longer */
	char *clean; /* as large; what frames point into */
	struct flame_frame *frames;
	size_t nr, capacity;
};

static void line__release(struct line *line)
{
	free(line->text);
	free(line->clean);
	free(line->frames);
}

/* Not strchr(), which finds the byte of zero as well. */
static bool is_space(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Returns false at the end of the file. */
static bool read_line(struct line *line, FILE *in)
{
	int byte = getc_unlocked(in);

	if (byte == EOF)
		return false;
	line->length = 0;
	line->cut = false;
	for (; byte != EOF && byte != '\n'; byte = getc_unlocked(in)) {
		line->cut = line->length == FOLDED_LINE_MAX;
		if (!line->cut)
			line->text[line->length++] = (char)byte;
	}
	while (line->length > 0 && is_space(line->text[line->length - 1]))
		line->length--;
	line->text[line->length] = '\0';
	return true;
}

/*
 * Take the number from the end of the line. Returns NULL, or why there is none. flamegraph.pl and
 * tools that count time allow a fraction.
 */
static const char *take_weight(struct line *line, uint64_t *weight, bool *rounded)
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

/* ---- frames ---- */

/* A mark behind the name that says its kind, as flamegraph.pl knows them, is cut off. */
static enum flame_kind take_mark(char *name, enum flame_kind otherwise)
{
	static const struct {
		const char *mark;
		enum flame_kind kind;
	} marks[] = {{"_[k]", FLAME_KERNEL}, {"_[i]", FLAME_INLINED}, {"_[j]", FLAME_GENERATED}};
	size_t length = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		size_t at = length - strlen(marks[i].mark);

		if (length > strlen(marks[i].mark) && !strcmp(name + at, marks[i].mark)) {
			name[at] = '\0';
			return marks[i].kind;
		}
	}
	return otherwise;
}

/*
 * A word in brackets, as "[unknown]" or where a function begins, "[libfoo.so+0x1200]"; and what
 * options put behind it: an offset, the place in the file, a source line. The first frame, which
 * others follow, can be the name of a thread: "[ET_NET 0]".
 */
static bool is_unnamed(const char *name, bool first)
{
	const char *end = name[0] == '[' ? strrchr(name, ']') : NULL;

	if (first && end && !memmem(name, (size_t)(end - name), "+0x", 3))
		return false;
	return end && (!end[1] || text__begins(end, "]+0x") || text__begins(end, "] (") ||
		       text__begins(end, "]:"));
}

/* first: it has callees, and no callers. */
static enum flame_kind kind_of(char *name, bool first, bool kernel)
{
	if (!strcmp(name, "-") || text__begins(name, "[cut at ") ||
	    text__begins(name, "[unwind stopped: "))
		return FLAME_MARK;
	if (text__begins(name, "[unknown]") || is_unnamed(name, first))
		return FLAME_UNKNOWN;
	return take_mark(name, kernel ? FLAME_KERNEL : FLAME_USER);
}

/* Returns 0 or -ENOMEM. */
static int split(struct line *line)
{
	const char *end = line->text + line->length;
	char *to = line->clean;
	bool kernel = false;

	line->nr = 0;
	for (const char *from = line->text; from <= end;) {
		const char *semicolon = memchr(from, ';', (size_t)(end - from));
		size_t length = (size_t)((semicolon ? semicolon : end) - from);
		struct flame_frame frame = {.text = to};

		if (ARRAY_GROW(line->frames, line->nr, line->capacity))
			return -ENOMEM;
		text__clean(from, length, false, to, length + 1);
		if (length == 0)
			frame.text = "[unknown]";
		frame.kind = length ? kind_of(to, !line->nr && semicolon, kernel) : FLAME_UNKNOWN;
		kernel |= !strcmp(frame.text, "-");
		line->frames[line->nr++] = frame;
		to += length + 1;
		from += length + 1;
	}
	return 0;
}

/* ---- files of other kinds ---- */

static bool begins_with(const struct line *line, const char *with, size_t size)
{
	return line->length >= size && !memcmp(line->text, with, size);
}

/* "comm 1234 [001] 5.678: 1 cycles:", as perf script prints them above the frames. */
static bool is_of_perf_script(const struct line *line)
{
	const char *colon = strstr(line->text, ": ");

	return line->text[line->length - 1] == ':' && colon && colon > line->text &&
	       isdigit((unsigned char)colon[-1]);
}

/* What the first line of a file is of, and what to do; NULL: it can be folded stacks. */
static const char *find_foreign(const struct line *line)
{
	static const struct {
		const char *begin;
		size_t size;
		const char *text;
	} kinds[] = {
#define KIND(begin, text) {begin, sizeof(begin) - 1, text}
		KIND("\x1f\x8b", "is compressed by gzip: zcat folded.gz | flamegraph; a profile of "
				 "pprof (.pb.gz) is for 'pprof'"),
		KIND("{", "is JSON; folded stacks are made by --format folded, or -f"),
		KIND("[{", "is JSON; folded stacks are made by --format folded, or -f"),
		KIND("<?xml", "is a picture already"),
		KIND("<svg", "is a picture already"),
		KIND("<!DOCTYPE", "is a page already"),
		KIND("PERFILE2",
		     "is data of perf; perf script | stackcollapse-perf.pl makes folded "
		     "stacks of it"),
		KIND("Tracing ", "is text for readers; folded stacks are made by -f"),
		KIND("Sampling at ", "is text for readers; folded stacks are made by -f"),
#undef KIND
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (begins_with(line, kinds[i].begin, kinds[i].size))
			return kinds[i].text;
	if (is_of_perf_script(line))
		return "is output of perf script; stackcollapse-perf.pl makes folded stacks of it";
	return NULL;
}

/* Some editors of other systems put one in front of a text (Unicode 15, 23.8). */
static void skip_byte_order_mark(struct line *line)
{
	const size_t size = 3;

	if (!begins_with(line, "\xef\xbb\xbf", size))
		return;
	line->length -= size;
	memmove(line->text, line->text + size, line->length + 1);
}

/* True if a number stands behind the last frame as well, whose count has been taken. */
static bool has_two_counts(const struct line *line)
{
	size_t at = line->length;

	while (at > 0 && isdigit((unsigned char)line->text[at - 1]))
		at--;
	return at > 0 && at < line->length && isblank((unsigned char)line->text[at - 1]);
}

/* ---- all lines ---- */

static void set_bad(struct folded_lines *lines, uint64_t number, const char *reason)
{
	if (lines->bad < FOLDED_BAD_MAX) {
		lines->first_bad[lines->bad].number = number;
		lines->first_bad[lines->bad].reason = reason;
	}
	lines->bad++;
}

static uint64_t sum_of(const struct flame_tree *tree, bool before)
{
	if (tree->nr == 0)
		return 0;
	return before ? tree->nodes[0].total_before : tree->nodes[0].total;
}

/* *reason: why the line is no stack. Returns 0 or -ENOMEM. */
static int add_line(struct folded_lines *lines, struct line *line, struct flame_tree *tree,
		    bool before, const char **reason)
{
	uint64_t weight;
	bool rounded;

	*reason = line->cut ? "longer than 1 MB" : take_weight(line, &weight, &rounded);
	if (!*reason && weight > (uint64_t)INT64_MAX - sum_of(tree, before))
		*reason = "its count makes the sum too large";
	if (*reason)
		return 0;
	lines->stacks++;
	lines->rounded += rounded;
	lines->two_counts += has_two_counts(line);
	if (split(line))
		return -ENOMEM;
	return (before ? flame_tree__add_before : flame_tree__add)(tree, line->frames, line->nr,
								   weight);
}

/* What is wrong with all lines; NULL: nothing. One line can have a frame that ends in a number. */
static const char *find_fault(const struct folded_lines *lines)
{
	return lines->stacks > 1 && lines->two_counts == lines->stacks ?
		       "has two counts in each line, as difffolded.pl writes; compare two files by "
		       "--diff BEFORE AFTER" :
		       NULL;
}

int folded_lines__read(struct folded_lines *lines, FILE *in, struct flame_tree *tree, bool before)
{
	CLEANUP(line__release)
	struct line line = {.text = malloc(FOLDED_LINE_MAX + 1),
			    .clean = malloc(FOLDED_LINE_MAX + 1)};

	if (!line.text || !line.clean)
		return -ENOMEM;
	for (uint64_t number = 1; read_line(&line, in); number++) {
		const char *reason;

		if (number == 1)
			skip_byte_order_mark(&line);
		if (line.length == 0)
			continue;
		if (lines->stacks + lines->bad == 0)
			lines->refused = find_foreign(&line);
		if (lines->refused)
			return 0;
		if (add_line(lines, &line, tree, before, &reason))
			return -ENOMEM;
		if (reason)
			set_bad(lines, number, reason);
	}
	if (ferror(in))
		return -errno;
	lines->refused = find_fault(lines);
	return 0;
}
