// SPDX-License-Identifier: GPL-2.0-or-later
/* The help of a command, from its option table. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/options/options.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

#define HELP_WIDTH  80
#define HELP_COLUMN 30

/* Print word, on a new line indented by indent if it does not fit behind *column. */
static void print_wrapped(FILE *out, const char *word, int indent, int *column)
{
	int length = (int)strlen(word);

	if (*column + 1 + length > HELP_WIDTH) {
		fprintf(out, "\n%*s", indent, "");
		*column = indent;
	} else if (*column > indent) {
		fputc(' ', out);
		(*column)++;
	}
	fputs(word, out);
	*column += length;
}

static const struct option_spec *find_positional(const struct command *command)
{
	options__for_each(spec, command)
		if (!spec->name)
			return spec;
	return NULL;
}

static void print_usage(const struct command *command, const struct option_spec *positional,
			FILE *out)
{
	int column = fprintf(out, "usage: %s ", command->name);
	int indent = column;
	char word[96];

	options__for_each(spec, command) {
		char dashed[64];

		if (!spec->name)
			continue;
		if (spec->letter)
			snprintf(dashed, sizeof(dashed), "-%c", spec->letter);
		else
			snprintf(dashed, sizeof(dashed), "--%s", spec->name);
		snprintf(word, sizeof(word), "[%s%s%s]", dashed, spec->value ? " " : "",
			 spec->value ? spec->value : "");
		print_wrapped(out, word, indent, &column);
	}
	if (positional) {
		snprintf(word, sizeof(word), positional->required ? "%s" : "[%s]",
			 positional->value);
		print_wrapped(out, word, indent, &column);
	}
	if (command->run_offset)
		print_wrapped(out, "[-- COMMAND [ARG...]]", indent, &column);
	fputc('\n', out);
}

/* The row for what stands behind "--". */
static const struct option_spec run_row = {
	.value = "-- COMMAND [ARG...]",
	.help = "run this, and trace it and all that it starts, from its first instruction to its end; "
		"the report goes to stderr"};

static void print_row(const struct option_spec *spec, FILE *out)
{
	char left[96];
	const char *value = spec->value ? spec->value : "";
	const char *space = spec->value ? " " : "";
	CLEANUP_FREE char *text = strdup(spec->help);
	char *rest = text, *word;
	int column;

	if (!spec->name)
		snprintf(left, sizeof(left), "  %s", value);
	else if (spec->letter)
		snprintf(left, sizeof(left), "  -%c, --%s%s%s", spec->letter, spec->name, space,
			 value);
	else
		snprintf(left, sizeof(left), "      --%s%s%s", spec->name, space, value);
	column = fprintf(out, "%-*s", HELP_COLUMN, left);
	if (column > HELP_COLUMN) {
		fprintf(out, "\n%*s", HELP_COLUMN, "");
		column = HELP_COLUMN;
	}
	while ((word = strsep(&rest, " ")))
		print_wrapped(out, word, HELP_COLUMN, &column);
	fputc('\n', out);
}

/* In the order in which they are printed. */
static const struct {
	enum option_group group;
	const char *title;
} groups[] = {
	{GROUP_TRACED, "what is traced"}, {GROUP_TIME, "how long"}, {GROUP_SHOWN, "what is shown"},
	{GROUP_OUTPUT, "where it goes"},  {GROUP_LIMITS, "limits"}, {GROUP_OTHER, "other options"},
};

static bool has_group(const struct command *command, enum option_group group)
{
	options__for_each(spec, command)
		if (spec->name && spec->group == group)
			return true;
	return false;
}

static bool has_groups(const struct command *command)
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (groups[i].group != GROUP_OTHER && has_group(command, groups[i].group))
			return true;
	return false;
}

void options__print_options(const struct command *command, FILE *out)
{
	bool first = true;

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		if (!has_group(command, groups[i].group))
			continue;
		fprintf(out, "%s%s:\n", first ? "" : "\n",
			has_groups(command) ? groups[i].title : "options");
		first = false;
		options__for_each(spec, command)
			if (spec->name && spec->group == groups[i].group)
				print_row(spec, out);
	}
}

void options__print_help(const struct command *command, FILE *out)
{
	const struct option_spec *positional = find_positional(command);

	print_usage(command, positional, out);
	fprintf(out, "\n%s\n\n", command->summary);
	if (positional) {
		fprintf(out, "arguments:\n");
		print_row(positional, out);
		if (command->run_offset)
			print_row(&run_row, out);
		fputc('\n', out);
	}
	options__print_options(command, out);
	fprintf(out, "\nexamples:\n%s", command->examples);
}
