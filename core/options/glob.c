// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/options/glob.h"

#include <stddef.h>
#include <string.h>
#include <wctype.h>

#include "sym/util/array.h"

void byte_set__add(struct byte_set *set, unsigned int byte)
{
	set->words[byte / 64] |= 1ULL << byte % 64;
}

bool byte_set__has(const struct byte_set *set, unsigned char byte)
{
	return set->words[byte / 64] >> byte % 64 & 1;
}

static void byte_set__invert(struct byte_set *set)
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

const char *glob__skip_set(const char *text, bool regex)
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
			byte_set__add(set, byte);
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
		byte_set__add(set, byte);
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
		byte_set__invert(&set);
	return set;
}

const char *glob__take(struct glob_element *element, const char *text)
{
	const char *behind = glob__skip_set(text, false);

	*element = (struct glob_element){.is_star = *text == '*'};
	if (behind)
		element->set = parse_set(text, behind);
	else if (*text == '?')
		byte_set__invert(&element->set);
	else
		byte_set__add(&element->set, (unsigned char)*text);
	return behind ? behind : text + 1;
}
