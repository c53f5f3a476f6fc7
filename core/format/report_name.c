// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/report_name.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool report_name__check(const char *pattern, bool *has_number, bool *has_time)
{
	*has_number = *has_time = false;
	for (const char *at = pattern; (at = strchr(at, '%')); at += 2) {
		if (!at[1] || !strchr("nt%", at[1]))
			return false;
		*has_number |= at[1] == 'n';
		*has_time |= at[1] == 't';
	}
	return true;
}

static void print_time(FILE *out, time_t now, unsigned int again)
{
	char time[32] = "";

	strftime(time, sizeof(time), "%Y%m%d-%H%M%S", localtime(&now));
	fputs(time, out);
	if (again > 1)
		fprintf(out, "-%u", again);
}

char *report_name__make(const char *pattern, uint64_t number, time_t now, unsigned int again)
{
	char *name = NULL;
	size_t size;
	FILE *stream = open_memstream(&name, &size);

	if (!stream)
		return NULL;
	for (; *pattern; pattern++) {
		if (*pattern != '%')
			fputc(*pattern, stream);
		else if (*++pattern == 'n')
			fprintf(stream, "%" PRIu64, number);
		else if (*pattern == 't')
			print_time(stream, now, again);
		else
			fputc('%', stream);
	}
	if (fclose(stream)) {
		free(name);
		return NULL;
	}
	return name;
}

/* The digits at the beginning. */
static size_t count_digits(const char *text)
{
	size_t nr = 0;

	while (isdigit((unsigned char)text[nr]))
		nr++;
	return nr;
}

/* The length of a time without what tells it from an earlier one; 0: there is none. */
static size_t time_length(const char *name)
{
	return count_digits(name) == 8 && name[8] == '-' && count_digits(name + 9) >= 6 ? 15 : 0;
}

/* What stands behind digits, so many as fit. */
static bool matches_behind_digits(const char *pattern, const char *name)
{
	for (size_t nr = count_digits(name); nr > 0; nr--)
		if (report_name__matches(pattern, name + nr))
			return true;
	return false;
}

static bool matches_time(const char *pattern, const char *name)
{
	size_t length = time_length(name);

	if (!length)
		return false;
	name += length;
	return report_name__matches(pattern, name) ||
	       (*name == '-' && matches_behind_digits(pattern, name + 1));
}

bool report_name__matches(const char *pattern, const char *name)
{
	for (; *pattern; pattern++, name++) {
		if (*pattern == '%' && pattern[1] == 'n')
			return matches_behind_digits(pattern + 2, name);
		if (*pattern == '%' && pattern[1] == 't')
			return matches_time(pattern + 2, name);
		pattern += *pattern == '%';
		if (*name != *pattern)
			return false;
	}
	return !*name;
}
