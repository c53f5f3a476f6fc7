// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/kind.h"

#include <ctype.h>
#include <string.h>

#include "core/input/perf_script.h"
#include "core/input/pprof_wire.h"
#include "sym/util/array.h"

static bool begins_with(const unsigned char *bytes, size_t size, const char *with, size_t length)
{
	return size >= length && !memcmp(bytes, with, length);
}

#define READERS "is text for readers; folded stacks are made by -f"

/* What a file is that is not read, and what to do; NULL: it is not one of these. */
static const char *find_foreign(const unsigned char *bytes, size_t size)
{
	static const struct {
		const char *begin;
		size_t size;
		const char *text;
	} kinds[] = {
#define KIND(begin, text) {begin, sizeof(begin) - 1, text}
		KIND("\x1f\x8b", "is compressed by gzip more than once"),
		KIND("BZh", "is compressed by bzip2: bzcat FILE | flamegraph"),
		KIND("PK\3\4", "is a zip archive: unzip -p FILE | flamegraph"),
		KIND("FLR\0",
		     "is a recording of Java (JFR): jfrconv -o collapsed FILE FOLDED, of async-profiler"),
		KIND("\xff\xfe", "is text in UTF-16: iconv -f UTF-16 -t UTF-8 FILE | flamegraph"),
		KIND("\xfe\xff", "is text in UTF-16: iconv -f UTF-16 -t UTF-8 FILE | flamegraph"),
		KIND("\xfd"
		     "7zXZ",
		     "is compressed by xz: xzcat FILE | flamegraph"),
		KIND("\x28\xb5\x2f\xfd", "is compressed by zstd: zstdcat FILE | flamegraph"),
		KIND("\x7f"
		     "ELF",
		     "is a program or a library (ELF)"),
		KIND("<?xml", "is a picture already"),
		KIND("<svg", "is a picture already"),
		KIND("<!DOCTYPE", "is a page already"),
		KIND("PERFILE2", "is data of perf: perf script -i FILE | flamegraph"),
		KIND("Tracing ", READERS),
		KIND("Sampling at ", READERS),
		KIND("TIME(s) ", READERS),
		KIND("heap profile: ",
		     "is a profile of Go in text: without debug=1 in its address it is one of "
		     "pprof"),
		KIND("goroutine profile: ",
		     "is a profile of Go in text: without debug=1 in its address it is one of "
		     "pprof"),
#undef KIND
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (begins_with(bytes, size, kinds[i].begin, kinds[i].size))
			return kinds[i].text;
	return NULL;
}

/* Bytes that no text has: fields of a profile have small numbers everywhere. */
static bool is_binary(const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] < '\t')
			return true;
	return false;
}

static size_t skip_blanks(const unsigned char *bytes, size_t size)
{
	size_t at = 0;

	while (at < size && strchr(" \t\r\n", bytes[at]) && bytes[at])
		at++;
	return at;
}

/* "{main};f 1" and "[unknown];f 1" are folded stacks. */
static bool is_json(const unsigned char *bytes, size_t size)
{
	size_t next = size ? 1 + skip_blanks(bytes + 1, size - 1) : 0;

	if (next >= size)
		return false;
	return (bytes[0] == '{' && bytes[next] == '"') || (bytes[0] == '[' && bytes[next] == '{');
}

/* The line at *at, without its end, which moves to the next one; false behind the last whole one.
 */
static bool next_line(const char **at, const char *end, const char **line, size_t *length)
{
	const char *newline = memchr(*at, '\n', (size_t)(end - *at));

	*line = *at;
	if (!newline)
		return false;
	*length = (size_t)(newline - *at);
	*at = newline + 1;
	return true;
}

/* "12", or "12 (3.4%)" by --shares. */
static bool is_count(const char *text, size_t length)
{
	size_t digits = 0;

	while (digits < length && isdigit((unsigned char)text[digits]))
		digits++;
	return digits > 0 &&
	       (digits == length || (length > digits + 1 && !memcmp(text + digits, " (", 2)));
}

/*
 * A map of bpftrace whose keys are stacks: "@[", a line for each frame, "]: 12". A map by names
 * alone is "@[sshd]: 12".
 */
static bool is_bpftrace_map(const char *text, size_t size)
{
	const char *end = text + size, *line;
	size_t length;

	while (next_line(&text, end, &line, &length)) {
		const char *key;

		if (length == 0 || (length > 10 && !memcmp(line, "Attaching ", 10)))
			continue;
		key = line[0] == '@' ? memchr(line, '[', length) : NULL;
		if (!key)
			return false;
		for (const char *at = line + 1; at < key; at++)
			if (!isalnum((unsigned char)*at) && *at != '_')
				return false;
		return key + 1 == line + length ||
		       memmem(key, length - (size_t)(key - line), "]: ", 3);
	}
	return false;
}

/*
 * A block of our text that has lost its header: indented frames, and below them their count alone.
 * Folded lines of one word and a number, "  ab 7", have more than a number in each.
 */
static bool is_block(const char *text, size_t size)
{
	const char *end = text + size, *line;
	size_t length, frames = 0;

	while (next_line(&text, end, &line, &length)) {
		size_t blanks = 0;

		while (blanks < length && line[blanks] == ' ')
			blanks++;
		if (blanks == length && frames == 0)
			continue;
		if (blanks < 2 || blanks == length)
			return false;
		if (is_count(line + blanks, length - blanks))
			return frames > 0 && blanks > 2;
		frames++;
	}
	return false;
}

/* As find_foreign(), of text that has no mark at its beginning. */
static const char *find_foreign_lines(const char *text, size_t size)
{
	if (is_bpftrace_map(text, size))
		return "is output of bpftrace: stackcollapse-bpftrace.pl FILE | flamegraph";
	if (is_block(text, size))
		return READERS;
	return NULL;
}

/* Our own files for speedscope, and those of others, name the schema near their beginning. */
static bool is_speedscope(const char *text, size_t size)
{
	static const char schema[] = "speedscope.app/file-format-schema.json";

	return memmem(text, size, schema, sizeof(schema) - 1) != NULL;
}

enum input_kind input_kind__recognise(const unsigned char *bytes, size_t size, bool whole,
				      const char **foreign)
{
	size_t blanks = skip_blanks(bytes, size);

	*foreign = find_foreign(bytes + blanks, size - blanks);
	if (*foreign)
		return INPUT_FOREIGN;
	/* Its first byte can be a newline. */
	if (is_binary(bytes, size) && pprof_wire__is_profile(bytes, size, whole))
		return INPUT_PPROF;
	if (is_json(bytes + blanks, size - blanks)) {
		if (is_speedscope((const char *)bytes, size))
			*foreign =
				"is a file for speedscope: open it at speedscope.app; flamegraph "
				"reads -o FILE.json";
		return *foreign ? INPUT_FOREIGN : INPUT_JSON;
	}
	*foreign = find_foreign_lines((const char *)bytes, size);
	if (*foreign)
		return INPUT_FOREIGN;
	return perf_script__is_one((const char *)bytes, size) ? INPUT_PERF_SCRIPT : INPUT_FOLDED;
}
