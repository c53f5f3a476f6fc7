// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/probe/pattern.h"

#include <errno.h>
#include <regex.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"

/*
 * A state of libc's automaton takes some KB: 16 KB of names can cost 50 MB, if the expression has
 * so many states. Compiling again takes about 10 us.
 */
#define REGEX_MEMORY (16 * 1024)

/* Any of the 256 bytes. */
struct byte_set {
	uint64_t words[4];
};

/* The part of a glob that matches one byte; or '*'. */
struct glob_element {
	bool is_star;
	struct byte_set set;
};

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

static void set__add(struct byte_set *set, unsigned int byte)
{
	set->words[byte / 64] |= 1ULL << byte % 64;
}

static bool set__has(const struct byte_set *set, unsigned char byte)
{
	return set->words[byte / 64] >> byte % 64 & 1;
}

static void set__invert(struct byte_set *set)
{
	for (size_t i = 0; i < ARRAY_SIZE(set->words); i++)
		set->words[i] = ~set->words[i];
}

/* "[:digit:]": the text behind it, or NULL. */
static const char *skip_class(const char *text)
{
	size_t length;

	if (text[0] != '[' || text[1] != ':')
		return NULL;
	length = strspn(text + 2, "abcdefghijklmnopqrstuvwxyz");
	return text[2 + length] == ':' && text[3 + length] == ']' ? text + length + 4 : NULL;
}

/* In a regex also "[.a.]" and "[=a=]", with anything between. */
static const char *skip_regex_class(const char *text)
{
	const char end[] = {text[1], ']', '\0'};
	const char *found;

	if (text[0] != '[' || !text[1] || !strchr(":.=", text[1]))
		return NULL;
	found = strstr(text + 2, end);
	return found ? found + 2 : NULL;
}

/* The text behind '[' and the character that negates the set. */
static const char *skip_opening(const char *text, bool regex, bool *negated)
{
	*negated = text[1] == '^' || (text[1] == '!' && !regex);
	return text + 1 + *negated;
}

const char *pattern__skip_set(const char *text, bool regex)
{
	const char *first, *rest;
	bool negated;

	if (*text != '[')
		return NULL;
	first = skip_opening(text, regex, &negated);
	/* A ']' that comes first belongs to the set. */
	for (rest = first; *rest && (*rest != ']' || rest == first);) {
		const char *behind = regex ? skip_regex_class(rest) : skip_class(rest);

		rest = behind ? behind : rest + 1;
	}
	return *rest ? rest + 1 : NULL;
}

/* A class with a name that does not exist has no members. */
static void add_class(struct byte_set *set, const char *text, const char *behind)
{
	char name[16] = "";
	wctype_t class;

	if (behind - text - 4 >= (ptrdiff_t)sizeof(name))
		return;
	memcpy(name, text + 2, (size_t)(behind - text - 4));
	class = wctype(name);
	/* Names of functions are bytes, and only ASCII bytes have a class. */
	for (unsigned int byte = 0; class && byte < 128; byte++)
		if (iswctype(byte, class))
			set__add(set, byte);
}

/* Add the bytes of "a" or "a-z". Returns the text behind them. */
static const char *add_range(struct byte_set *set, const char *text, const char *end)
{
	unsigned char first = (unsigned char)text[0], last = first;
	size_t length = 1;

	if (text + 2 < end && text[1] == '-') {
		last = (unsigned char)text[2];
		length = 3;
	}
	for (unsigned int byte = first; byte <= last; byte++)
		set__add(set, byte);
	return text + length;
}

/* Parse the set from text, at its '[', to behind, which is after its ']'. */
static struct byte_set parse_set(const char *text, const char *behind)
{
	struct byte_set set = {{0}};
	const char *end = behind - 1;
	bool negated;

	text = skip_opening(text, false, &negated);
	while (text < end) {
		const char *rest = skip_class(text);

		if (rest)
			add_class(&set, text, rest);
		text = rest ? rest : add_range(&set, text, end);
	}
	if (negated)
		set__invert(&set);
	return set;
}

/* Parse the element that begins at text. Returns the text behind it. */
static const char *parse_element(struct glob_element *element, const char *text)
{
	const char *behind = pattern__skip_set(text, false);

	*element = (struct glob_element){.is_star = *text == '*'};
	if (behind)
		element->set = parse_set(text, behind);
	else if (*text == '?')
		set__invert(&element->set);
	else
		set__add(&element->set, (unsigned char)*text);
	return behind ? behind : text + 1;
}

static int parse_glob(struct pattern *pattern)
{
	const char *rest = pattern->text;

	pattern->is_literal = true;
	pattern->elements = calloc(strlen(rest) + 1, sizeof(*pattern->elements));
	if (!pattern->elements)
		return -ENOMEM;
	while (*rest) {
		const char *behind = parse_element(&pattern->elements[pattern->nr++], rest);

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
			   set__has(&element->set, (unsigned char)*name)) {
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
		const char *behind = pattern__skip_set(text, true);

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
 * is anchored. So let the expression itself look for the beginning.
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
	return pattern->regex ? regex__matches(pattern->regex, name, length) :
				matches_glob(pattern, name);
}

bool pattern__is_literal(const struct pattern *pattern)
{
	return pattern->is_literal;
}

const char *pattern__text(const struct pattern *pattern)
{
	return pattern->text;
}
