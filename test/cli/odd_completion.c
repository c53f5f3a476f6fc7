// SPDX-License-Identifier: GPL-2.0-or-later
/* odd_completion SHELL: the script for tables whose texts mean something to shells. */
#include "applets/applet.h"
#include "applets/completion.h"

static const char *const choices[] = {"plain", "it's", "a b",	      "$HOME",
				      "x:y",   "[z]",  "back\\slash", NULL};

/* clang-format off */
static const struct option_spec options[] = {
	{.letter = 'q', .name = "quotes", .type = OPTION_FLAG,
	 .help = "it's \"quoted\" `once`"},
	{.letter = 'b', .name = "brackets", .value = "A[,A...]", .type = OPTION_NUMBER,
	 .help = "one [of] {these} (here): 5%"},
	{.name = "dollars", .value = "X:Y", .type = OPTION_PATH,
	 .help = "$HOME; $(false) & *"},
	{.name = "choice", .value = "WHAT'S", .type = OPTION_CHOICE, .choices = choices,
	 .help = "C:\\DOS\\ <or> not"},
	{.value = "file: [a]", .type = OPTION_PATH, .help = "a positional argument"},
	{0},
};
/* clang-format on */
static const struct option_spec no_options[] = {{0}};

static const struct applet odd = {
	.command = {.name = "odd-one", .summary = "What's [this]: $1 \\ `?", .options = options}};
static const struct applet plain = {
	.command = {.name = "plain", .summary = "Plain.", .options = no_options}};
static const struct applet *const applets[] = {&odd, &plain, NULL};

int main(int argc, char **argv)
{
	const struct command tracekit = {.name = "tracekit", .options = no_options};

	return argc != 2 || completion__print(argv[1], &tracekit, applets, stdout);
}
