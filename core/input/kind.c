// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/kind.h"

#include <string.h>

#include "core/input/perf_script.h"
#include "core/input/pprof_wire.h"
#include "sym/util/array.h"

static bool begins_with(const unsigned char *bytes, size_t size, const char *with, size_t length)
{
	return size >= length && !memcmp(bytes, with, length);
}

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
		KIND("Tracing ", "is text for readers; folded stacks are made by -f"),
		KIND("Sampling at ", "is text for readers; folded stacks are made by -f"),
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
	if (is_json(bytes + blanks, size - blanks))
		return INPUT_JSON;
	return perf_script__is_one((const char *)bytes, size) ? INPUT_PERF_SCRIPT : INPUT_FOLDED;
}
