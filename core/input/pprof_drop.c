// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/pprof_drop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/input/pprof_tables.h"
#include "core/probe/pattern.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/text.h"

/*
 * An expression that matches whole names; NULL: none is given, or it is not understood. Those with
 * repeated repetitions could take all time and memory to compile: none that is known has a {.
 * Returns 0 or -ENOMEM.
 */
static int compile(struct pprof_tables *tables, uint64_t number, struct pattern **pattern)
{
	struct pprof_text text = pprof_tables__text(tables, number);
	CLEANUP_FREE char *whole = NULL;
	struct error error;
	int err;

	if (!text.size)
		return 0;
	if (text.size > PATTERN_NAME_MAX - 8 || memchr(text.bytes, '{', text.size) ||
	    memchr(text.bytes, 0, text.size)) {
		tables->bad_drop = true;
		return 0;
	}
	if (asprintf(&whole, "^(%.*s)$", (int)text.size, (const char *)text.bytes) < 0) {
		whole = NULL;
		return -ENOMEM;
	}
	err = pattern__new(pattern, whole, true, &error);
	tables->bad_drop |= err == -EINVAL;
	return err == -ENOMEM ? err : 0;
}

/* A name without its arguments: "(anonymous namespace)" and "operator()" are none. */
static size_t length_without_arguments(const char *name)
{
	const char *at = name;

	while ((at = strchr(at, '('))) {
		if (!text__begins(at, "(anonymous namespace)") &&
		    !(at - name >= 8 && text__begins(at - 8, "operator()")))
			return (size_t)(at - name);
		at++;
	}
	return strlen(name);
}

static bool is_dropped(const char *name, const struct pattern *drop, const struct pattern *keep)
{
	char simple[PATTERN_NAME_MAX + 1];
	size_t length;

	name += name[0] == '.';
	length = length_without_arguments(name);
	if (length >= sizeof(simple))
		return false;
	memcpy(simple, name, length);
	simple[length] = '\0';
	return pattern__matches(drop, simple) && !(keep && pattern__matches(keep, simple));
}

/* The outermost function of a location that is dropped is so with all that it has called. */
static void drop_lines(const struct pprof_tables *tables, struct pprof_location *location,
		       const bool *dropped)
{
	for (size_t i = location->nr; i-- > 0;) {
		uint64_t number = tables->lines[location->first + i];

		if (!number || !dropped[number - 1])
			continue;
		location->drop = i + 1 == location->nr ? PPROF_DROP : PPROF_DROP_BELOW;
		if (location->drop == PPROF_DROP_BELOW) {
			location->first += i + 1;
			location->nr -= i + 1;
		}
		return;
	}
}

int pprof_drop__mark(struct pprof_tables *tables)
{
	CLEANUP(pattern__freep) struct pattern *drop = NULL;
	CLEANUP(pattern__freep) struct pattern *keep = NULL;
	CLEANUP_FREE bool *dropped = NULL;
	int err = compile(tables, tables->drop_frames, &drop);

	if (!err)
		err = compile(tables, tables->keep_frames, &keep);
	if (err || !drop || tables->bad_drop)
		return err;
	dropped = calloc(tables->functions.nr + 1, sizeof(*dropped));
	if (!dropped)
		return -ENOMEM;
	for (size_t i = 0; i < tables->functions.nr; i++) {
		const char *name = tables->functions.items[i].text;

		dropped[i] = name && is_dropped(name, drop, keep);
	}
	for (size_t i = 0; i < tables->locations.nr; i++)
		drop_lines(tables, &tables->locations.items[i], dropped);
	return 0;
}
