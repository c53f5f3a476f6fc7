// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/probe/probespec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/options/glob.h"
#include "core/probe/pattern.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/text.h"

/* Longer than any path with any pattern. */
#define TEXT_MAX ((size_t)2 * PATTERN_NAME_MAX)

/* A kind of probe with its letter, and what messages say of it. */
struct kind {
	char letter;
	const char *syntax;
	const char *empty_name; /* the message if the last part is empty */
};

static const struct kind function_kind = {
	'p', "FUNCTION or FILE:FUNCTION, as in vfs_read, c:malloc or /usr/bin/app:main",
	"FUNCTION is empty"};
static const struct kind tracepoint_kind = {'t', "t:CATEGORY:EVENT, as in t:sched:sched_switch",
					    "EVENT is empty"};
static const struct kind usdt_kind = {
	'u', "u:FILE:PROBE or u:FILE:PROVIDER:PROBE, as in u:python3:gc__start", "PROBE is empty"};

static int bad_spec(const struct probespec *spec, const struct kind *kind, const char *why,
		    struct error *error)
{
	return error__set(error, -EINVAL, "'%.200s': %s; write %s", spec->text, why, kind->syntax);
}

/* The first ':' that separates parts, or NULL. */
static const char *find_separator(const char *text)
{
	while (*text && *text != ':') {
		const char *behind =
			text__begins(text, "\\:") ? text + 2 : glob__skip_set(text, false);

		text = behind ? behind : text + 1;
	}
	return *text ? text : NULL;
}

/* Of a part: a ':' behind a backslash is a ':'. */
static void take_escapes(char *part)
{
	char *to = part;

	for (; *part; part++) {
		part += text__begins(part, "\\:");
		*to++ = *part;
	}
	*to = '\0';
}

/* Move *rest behind its first part, and allocate that as *part; do neither if no part follows. */
static int take_part(const char **rest, char **part, struct error *error)
{
	const char *end = find_separator(*rest);

	if (!end)
		return 0;
	*part = strndup(*rest, (size_t)(end - *rest));
	if (!*part)
		return error__set(error, -ENOMEM, "cannot read '%.200s': out of memory", *rest);
	take_escapes(*part);
	*rest = end + 1;
	return 0;
}

static const struct kind *find_kind(const char *text)
{
	static const struct kind *const kinds[] = {&function_kind, &tracepoint_kind, &usdt_kind};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (text[0] == kinds[i]->letter && text[1] == ':' && find_separator(text + 2))
			return kinds[i];
	return NULL;
}

static int set_name(struct probespec *spec, const struct kind *kind, const char *name, bool regex,
		    struct error *error)
{
	if (!*name)
		return bad_spec(spec, kind, kind->empty_name, error);
	return pattern__new(&spec->name, name, regex, error);
}

/* "FUNCTION", ":FUNCTION" or "FILE:FUNCTION" */
static int parse_function(struct probespec *spec, const char *rest, bool regex, struct error *error)
{
	CLEANUP_FREE char *file = NULL;
	int err = take_part(&rest, &file, error);

	if (err)
		return err;
	spec->kind = file && *file ? PROBE_USER_FUNCTION : PROBE_KERNEL_FUNCTION;
	if (file && *file)
		spec->file = TAKE_POINTER(file);
	return set_name(spec, &function_kind, rest, regex, error);
}

/* "CATEGORY:EVENT" */
static int parse_tracepoint(struct probespec *spec, const char *rest, bool regex,
			    struct error *error)
{
	CLEANUP_FREE char *category = NULL;
	int err = take_part(&rest, &category, error);

	if (err)
		return err;
	spec->kind = PROBE_TRACEPOINT;
	if (!*category)
		return bad_spec(spec, &tracepoint_kind, "CATEGORY is empty", error);
	if (!regex && find_separator(rest))
		return bad_spec(spec, &tracepoint_kind, "too many parts", error);
	err = pattern__new(&spec->group, category, false, error);
	return err ? err : set_name(spec, &tracepoint_kind, rest, regex, error);
}

/* "FILE:PROBE" or "FILE:PROVIDER:PROBE" */
static int parse_usdt(struct probespec *spec, const char *rest, bool regex, struct error *error)
{
	CLEANUP_FREE char *provider = NULL;
	int err = take_part(&rest, &spec->file, error);

	if (!err)
		err = take_part(&rest, &provider, error);
	if (err)
		return err;
	spec->kind = PROBE_USDT;
	if (!*spec->file)
		return bad_spec(spec, &usdt_kind, "FILE is empty", error);
	if (provider && !*provider)
		return bad_spec(spec, &usdt_kind, "PROVIDER is empty", error);
	if (!regex && find_separator(rest))
		return bad_spec(spec, &usdt_kind, "too many parts", error);
	if (provider)
		err = pattern__new(&spec->group, provider, false, error);
	return err ? err : set_name(spec, &usdt_kind, rest, regex, error);
}

int probespec__parse(struct probespec *spec, const char *text, bool regex, struct error *error)
{
	CLEANUP(probespec__release) struct probespec parsed = {.text = text};
	const struct kind *kind;
	int err;

	if (!*text)
		return bad_spec(&parsed, &function_kind, "there is nothing to trace", error);
	if (strlen(text) > TEXT_MAX)
		return error__set(error, -EINVAL, "'%.40s...': longer than %zu bytes", text,
				  TEXT_MAX);
	kind = find_kind(text);
	if (kind == &tracepoint_kind)
		err = parse_tracepoint(&parsed, text + 2, regex, error);
	else if (kind == &usdt_kind)
		err = parse_usdt(&parsed, text + 2, regex, error);
	else
		err = parse_function(&parsed, kind ? text + 2 : text, regex, error);
	if (err)
		return err;
	*spec = parsed;
	parsed = (struct probespec){0};
	return 0;
}

void probespec__release(struct probespec *spec)
{
	free(spec->file);
	pattern__free(spec->group);
	pattern__free(spec->name);
	*spec = (struct probespec){0};
}
