// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/about.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/utsname.h>

#include "core/format/format.h"
#include "core/trace/accounting.h"
#include "sym/util/cleanup.h"
#include "sym/util/number.h"
#include "sym/util/text.h"

/* A word that has nothing that a shell would look at stays as it is. */
static bool is_plain(const char *word)
{
	return word[0] && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					     "0123456789%+,-./:=@_")];
}

void about__command_line(char *text, size_t size)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/self/cmdline", "re");
	CLEANUP_FCLOSE FILE *out = fmemopen(text, size, "w");
	char words[1024], clean[1024];
	size_t length = file ? fread(words, 1, sizeof(words) - 1, file) : 0;

	text[0] = '\0';
	words[length] = '\0';
	for (size_t at = 0; out && at < length; at += strlen(words + at) + 1) {
		const char *slash = at ? NULL : strrchr(words, '/');
		const char *word = slash ? slash + 1 : words + at;

		text__clean(word, strlen(word), false, clean, sizeof(clean));
		fprintf(out, is_plain(clean) ? "%s%s" : "%s'%s'", at ? " " : "", clean);
	}
}

void about__trace(const struct shown_stacks *shown, char *text, size_t size)
{
	const struct accounting *accounting = shown->accounting;
	struct utsname machine = {0};
	char when[64] = "";

	uname(&machine);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", localtime(&shown->now));
	snprintf(text, size, "%s, Linux %s, %s, %.1f s: %" PRIu64 " %s, %" PRIu64 " lost",
		 machine.nodename, machine.release, when, (double)shown->nanoseconds / NANOSECONDS,
		 (uint64_t)accounting->events.n[EVENTS_COUNTED], shown->unit,
		 accounting__lost(accounting));
}
