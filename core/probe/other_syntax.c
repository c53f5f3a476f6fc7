// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/probe/other_syntax.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/options/near_names.h"
#include "core/probe/probespec.h"
#include "core/probe/targets.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/text.h"

/* How a pattern begins elsewhere, and here. The more special rows stand first. */
static const struct rule {
	const char *theirs, *ours;
} rules[] = {
	{"tracepoint:", "t:"},
	{"rawtracepoint:", "t:*:"},
	{"rt:", "t:*:"},
	{"kprobe:", ""},
	{"kretprobe:", ""},
	{"k:", ""},
	{"kr:", ""},
	{"fentry:", ""},
	{"fexit:", ""},
	{"kfunc:", ""},
	{"kretfunc:", ""},
	{"uprobe:", ""},
	{"uretprobe:", ""},
	{"ur:", ""},
	{"usdt:", "u:"},
	{"U:", "u:"},
	{"u:lib", "u:"},
	{"u:", ""},	/* bpftrace: a function of a program */
	{"t:", "t:*:"}, /* without the category */
	{"lib", ""},	/* "libc:malloc" */
	{"", "t:"},	/* perf: "sched:sched_switch" */
};

/* "kprobe:" before "libc:malloc", and "t:" before what has no category. */
#define RULES_IN_A_ROW 2

/* Whether a pattern matches anything. Of one tracepoint its whole name comes to stand in text. */
static bool exists(char *text, size_t size, const struct pid_list *pids)
{
	CLEANUP(probespec__release) struct probespec spec = {0};
	CLEANUP(target_list__release) struct target_list found = {0};
	CLEANUP_FREE char *parsed = strdup(text);
	struct error ignored;

	if (!parsed || probespec__parse(&spec, parsed, false, &ignored) ||
	    target_list__find(&found, &spec, pids, &ignored))
		return false;
	if (spec.kind == PROBE_TRACEPOINT && found.nr == 1)
		snprintf(text, size, "t:%s", found.targets[0].name);
	return true;
}

static bool has_wildcards(const char *text)
{
	return text[strcspn(text, "*?[")];
}

/* Write what text is here, by so many rules at most. Returns whether there is such a thing. */
static bool translate(const char *text, int rules_left, const struct pid_list *pids, char *ours,
		      size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		const char *rest = text + strlen(rules[i].theirs);
		char attempt[NEAR_NAME_SIZE];

		if (!text__begins(text, rules[i].theirs) ||
		    (size_t)snprintf(attempt, sizeof(attempt), "%s%s", rules[i].ours, rest) >=
			    sizeof(attempt))
			continue;
		if (text__begins(text, "u:") && !text__begins(attempt, "u:") && has_wildcards(rest))
			continue; /* all its probes: not all its functions */
		if (exists(attempt, sizeof(attempt), pids)) {
			snprintf(ours, size, "%s", attempt);
			return true;
		}
		if (rules_left > 1 && translate(attempt, rules_left - 1, pids, ours, size))
			return true;
	}
	return false;
}

/* Paths have few of them. */
#define COLONS_MAX 4

/* Write text with a backslash before the first nr ':' of its path. Returns whether it fits. */
static bool escape(const char *text, int nr, char *escaped, size_t size)
{
	size_t length = 0;
	bool in_path = false;

	for (; *text && length + 2 < size; text++) {
		in_path |= *text == '/';
		if (in_path && *text == ':' && nr-- > 0)
			escaped[length++] = '\\';
		escaped[length++] = *text;
	}
	escaped[length] = '\0';
	return !*text;
}

/* A path that has colons itself. */
static bool find_path(const char *text, const struct pid_list *pids, char *ours, size_t size)
{
	for (int nr = 1; nr <= COLONS_MAX; nr++)
		if (escape(text, nr, ours, size) && exists(ours, size, pids))
			return true;
	return false;
}

/* "u:*stdc++*:*", "*libc.so*:malloc": one file, by its name. */
static bool find_file(const char *text, const struct pid_list *pids, char *ours, size_t size)
{
	bool is_usdt = text__begins(text, "u:");
	const char *file = text + (is_usdt ? strlen("u:") : 0), *rest = strchr(file, ':');
	const char *name = file + strspn(file, "*"), *suffix = strstr(name, ".so");

	if (!rest || !memchr(file, '*', (size_t)(rest - file)))
		return false;
	name += text__begins(name, "lib") ? strlen("lib") : 0;
	if (!suffix || suffix > rest || suffix < name)
		suffix = name + strcspn(name, "*:");
	snprintf(ours, size, "%s%.*s%s", is_usdt ? "u:" : "", (int)(suffix - name), name, rest);
	return exists(ours, size, pids);
}

void other_syntax__hint(const char *text, const struct pid_list *pids, char *hint, size_t size)
{
	char ours[NEAR_NAME_SIZE];
	struct near_names near = {.wanted = ours};

	if (translate(text, RULES_IN_A_ROW, pids, ours, sizeof(ours)) ||
	    find_path(text, pids, ours, sizeof(ours)) || find_file(text, pids, ours, sizeof(ours)))
		near_names__offer(&near, ours);
	near_names__text(&near, hint, size);
}
