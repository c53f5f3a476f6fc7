// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/perf_lines.h"

#include <ctype.h>
#include <string.h>

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
static void find_event(struct perf_header *header, const char *text)
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

struct perf_header perf_header__parse(const char *text)
{
	const char *start = skip_blanks(text), *end = find_sure_end(start);
	struct perf_header header = {.is_sure = end != NULL, .comm.text = start, .event.text = ""};

	if (!end)
		end = find_likely_end(start);
	header.comm.length = (size_t)(end - start);
	while (header.comm.length && isblank((unsigned char)start[header.comm.length - 1]))
		header.comm.length--;
	find_event(&header, end);
	return header;
}

/* ---- the line of a frame ---- */

struct part perf_frame__address(const char *text)
{
	struct part word = word_at(text);

	if (strspn(word.text, "0123456789abcdef") != word.length)
		word.length = 0;
	return word;
}

/* perf begins it with a tab; others may have made blanks of that. */
bool perf_frame__is_one(const char *text)
{
	return isblank((unsigned char)text[0]) && perf_frame__address(text).length &&
	       (text[0] == '\t' || !perf_header__parse(text).is_sure);
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

bool part__is(struct part part, const char *text)
{
	return part.length == strlen(text) && !memcmp(part.text, text, part.length);
}

struct perf_frame perf_frame__parse(struct part address)
{
	const char *text = skip_blanks(behind(address));
	struct part frame = {text, strlen(text)}, file = find_file(frame);

	return (struct perf_frame){.name = find_name(frame, file), .file = file};
}

/* ---- recognised ---- */

/* perf gives an address 16 columns. */
static bool is_surely_frame(const char *text)
{
	struct part address = perf_frame__address(text);

	return text[0] == '\t' && address.length && behind(address) - text >= 17;
}

static bool is_surely_header(const char *text)
{
	struct perf_header header = perf_header__parse(text);

	return header.is_sure && header.has_time && header.event.length;
}

bool perf_line__is_sure(const char *text)
{
	return is_surely_frame(text) || is_surely_header(text);
}
