// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: a byte whose lowest bit says whether it is a regex, the pattern, a NUL, the name. */
#include <errno.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdbool.h>
#include <string.h>

#include "core/options/glob.h"
#include "core/probe/pattern.h"
#include "sym/util/error.h"
#include "test/fuzz/fuzz.h"

/* So short that libc's way, which can be exponential, ends in time. */
#define SHORT 40

/*
 * True if fnmatch() and we mean the same by a pattern: not if a '[' is in a set, or not closed, nor
 * for bytes in a set that are no ASCII.
 */
static bool libc_agrees(const char *pattern)
{
	const char *open = strchr(pattern, '[');

	if (!open)
		return true;
	for (const char *text = open; *text; text++)
		if ((text > open && *text == '[') || (unsigned char)*text >= 0x80)
			return false;
	return glob__skip_set(open, false);
}

static void check_glob(const struct pattern *pattern, const char *text, const char *name)
{
	bool matches = pattern__matches(pattern, name);

	REQUIRE(!pattern__is_literal(pattern) || matches == !strcmp(text, name));
	if (strlen(text) < SHORT && strlen(name) < SHORT && libc_agrees(text))
		REQUIRE(matches == (!strcmp(text, name) || fnmatch(text, name, FNM_NOESCAPE) == 0));
}

/* Not for a '^' and a newline: see make_regex(). */
static bool means_the_same(const char *regex, const char *name)
{
	return !strchr(regex, '^') || !strchr(name, '\n');
}

/* As libc has it, without the text that we put around the expression. */
static void check_regex(const struct pattern *pattern, const char *text, const char *name)
{
	bool matches = pattern__matches(pattern, name);
	regex_t compiled;

	REQUIRE(regcomp(&compiled, text, REG_EXTENDED | REG_NOSUB) == 0);
	if (means_the_same(text, name))
		REQUIRE(matches == (regexec(&compiled, name, 0, NULL, 0) == 0));
	REQUIRE(matches == pattern__matches(pattern, name));
	regfree(&compiled);
}

static void check(const char *text, const char *name, bool regex)
{
	struct pattern *pattern = NULL;
	struct error error = {.text = ""};
	int err;

	if (regex && (is_costly_regex(text) || strlen(text) > SHORT))
		return;
	err = pattern__new(&pattern, text, regex, &error);
	REQUIRE(err == 0 || (err == -EINVAL && (regex || strlen(text) > PATTERN_NAME_MAX)));
	REQUIRE((err == 0) == (error.text[0] == '\0'));
	if (err)
		return;
	REQUIRE(!strcmp(pattern__text(pattern), text));
	REQUIRE(!pattern__is_literal(pattern) || pattern__matches(pattern, text));
	if (regex)
		check_regex(pattern, text, name);
	else
		check_glob(pattern, text, name);
	pattern__free(pattern);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *rest = (const char *)data + 1;
	size_t length;
	char *text, *name;

	if (size < 2)
		return 0;
	length = strnlen(rest, size - 1);
	text = strndup(rest, length);
	length += length < size - 1;
	name = strndup(rest + length, size - 1 - length);
	check(text, name, data[0] & 1);
	free(text);
	free(name);
	return 0;
}
