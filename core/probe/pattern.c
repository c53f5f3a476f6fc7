// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/probe/pattern.h"

#include <errno.h>
#include <regex.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/options/glob.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"

/*
 * A state of libc's automaton takes some KB: 16 KB of names can cost 50 MB, if the expression has
 * so many states. Compiling again takes about 10 us.
 */
#define REGEX_MEMORY (16 * 1024)

/* An expression of libc's, which changes as it is used. */
struct regex {
	char *text;
	regex_t compiled;
	bool is_compiled;
	size_t seen; /* bytes of names since it was compiled */
};

struct pattern {
	char *text;
	bool is_literal;
	struct regex *regex; /* NULL: a glob */
	struct glob_element *elements;
	size_t nr;
};

static int parse_glob(struct pattern *pattern)
{
	const char *rest = pattern->text;

	pattern->is_literal = true;
	pattern->elements = calloc(strlen(rest) + 1, sizeof(*pattern->elements));
	if (!pattern->elements)
		return -ENOMEM;
	while (*rest) {
		const char *behind = glob__take(&pattern->elements[pattern->nr++], rest);

		pattern->is_literal &= *rest != '*' && *rest != '?' && behind == rest + 1;
		rest = behind;
	}
	return 0;
}

static bool matches_glob(const struct pattern *pattern, const char *name)
{
	const struct glob_element *end = pattern->elements + pattern->nr;
	const struct glob_element *element = pattern->elements;
	const struct glob_element *behind_star = NULL;
	const char *retry = NULL;

	/* Only the last star need be remembered: an earlier one may match as little as possible. */
	while (*name || element < end) {
		if (element < end && element->is_star) {
			behind_star = ++element;
			retry = name;
		} else if (*name && element < end &&
			   byte_set__has(&element->set, (unsigned char)*name)) {
			element++;
			name++;
		} else if (retry && *retry) {
			name = ++retry;
			element = behind_star;
		} else {
			return false;
		}
	}
	return true;
}

/* GNU's regcomp() takes \1 for a back reference also in an extended expression. */
static bool has_back_reference(const char *text)
{
	/*
	 * Sets are not skipped: a backslash in one hides no \1 behind it, since a ']' comes first.
	 */
	for (; *text; text++) {
		if (*text != '\\' || !text[1])
			continue;
		if (*++text >= '1' && *text <= '9')
			return true;
	}
	return false;
}

/* regcomp() takes it as a character, until the expression is put between parentheses. */
static bool has_lone_parenthesis(const char *text)
{
	int open = 0;

	while (*text && open >= 0) {
		const char *behind = glob__skip_set(text, true);

		if (behind) {
			text = behind;
			continue;
		}
		if (*text == '\\' && text[1])
			text++;
		else
			open += (*text == '(') - (*text == ')');
		text++;
	}
	return open < 0;
}

static int bad_regex(const char *text, const char *why, struct error *error)
{
	return error__set(error, -EINVAL, "'%.200s' is not a regular expression: %s", text, why);
}

static int check_regex(const char *text, struct error *error)
{
	char why[128];
	regex_t compiled;
	int code = regcomp(&compiled, text, REG_EXTENDED | REG_NOSUB);

	if (code) {
		regerror(code, &compiled, why, sizeof(why));
		return bad_regex(text, why, error);
	}
	regfree(&compiled);
	if (has_back_reference(text))
		return bad_regex(text, "back references (\\1) are not supported", error);
	if (has_lone_parenthesis(text))
		return bad_regex(text, "a ')' without its '('; for itself write \\)", error);
	return 0;
}

static void regex__forget(struct regex *regex)
{
	if (regex->is_compiled)
		regfree(&regex->compiled);
	regex->is_compiled = false;
	regex->seen = 0;
}

static bool regex__compile(struct regex *regex)
{
	if (!regex->is_compiled)
		regex->is_compiled =
			regcomp(&regex->compiled, regex->text, REG_EXTENDED | REG_NOSUB) == 0;
	return regex->is_compiled;
}

static bool regex__matches(struct regex *regex, const char *name, size_t length)
{
	if (regex->seen + length > REGEX_MEMORY)
		regex__forget(regex);
	regex->seen += length;
	return regex__compile(regex) && regexec(&regex->compiled, name, 0, NULL, 0) == 0;
}

static void regex__free(struct regex *regex)
{
	if (!regex)
		return;
	regex__forget(regex);
	free(regex->text);
	free(regex);
}

/*
 * libc starts again at each byte of a name, which would make this quadratic, unless the expression
 * is anchored. So let the expression itself look for the beginning. Then a '^' also matches behind
 * a newline: glibc's automaton takes that for the beginning of a line, also without REG_NEWLINE. No
 * compiler puts a newline into a name.
 */
static int make_regex(struct pattern *pattern)
{
	pattern->regex = calloc(1, sizeof(*pattern->regex));
	if (!pattern->regex)
		return -ENOMEM;
	if (asprintf(&pattern->regex->text, "^.*(%s)", pattern->text) < 0) {
		pattern->regex->text = NULL;
		return -ENOMEM;
	}
	return regex__compile(pattern->regex) ? 0 : -ENOMEM;
}

int pattern__new(struct pattern **out, const char *text, bool regex, struct error *error)
{
	CLEANUP(pattern__freep) struct pattern *pattern = NULL;
	int err = 0;

	if (strlen(text) > PATTERN_NAME_MAX)
		return error__set(error, -EINVAL, "'%.40s...': longer than %d bytes", text,
				  PATTERN_NAME_MAX);
	if (regex)
		err = check_regex(text, error);
	if (err)
		return err;
	pattern = calloc(1, sizeof(*pattern));
	if (pattern)
		pattern->text = strdup(text);
	if (!pattern || !pattern->text)
		err = -ENOMEM;
	else
		err = regex ? make_regex(pattern) : parse_glob(pattern);
	if (err)
		return error__set(error, err, "'%.200s': out of memory", text);
	*out = TAKE_POINTER(pattern);
	return 0;
}

void pattern__free(struct pattern *pattern)
{
	if (!pattern)
		return;
	regex__free(pattern->regex);
	free(pattern->elements);
	free(pattern->text);
	free(pattern);
}

void pattern__freep(struct pattern **pattern)
{
	pattern__free(*pattern);
	*pattern = NULL;
}

bool pattern__matches(const struct pattern *pattern, const char *name)
{
	size_t length;

	if (pattern->is_literal)
		return !strcmp(name, pattern->text);
	length = strnlen(name, PATTERN_NAME_MAX + 1);
	if (length > PATTERN_NAME_MAX)
		return false;
	if (pattern->regex)
		return regex__matches(pattern->regex, name, length);
	return !strcmp(name, pattern->text) || matches_glob(pattern, name);
}

bool pattern__is_literal(const struct pattern *pattern)
{
	return pattern->is_literal;
}

bool pattern__has_parameters(const struct pattern *pattern)
{
	return strstr(pattern->text, pattern->regex ? "\\(" : "(") != NULL;
}

const char *pattern__text(const struct pattern *pattern)
{
	return pattern->text;
}
