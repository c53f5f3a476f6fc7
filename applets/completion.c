// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A script has a fixed part and a part made from the tables: each applet's options, their values by
 * type and, in zsh and fish, their help.
 *
 * In each script the first word behind tracekit decides. Behind an option of the binary its value
 * is completed; behind an applet all goes on as behind a link of that name.
 */
#include "applets/completion.h"

#include <errno.h>
#include <string.h>

#include "applets/applet.h"
#include "applets/completion_script.h"

enum { BASH, ZSH, FISH };

const char *const completion_shells[] = {[BASH] = "bash", [ZSH] = "zsh", [FISH] = "fish", NULL};

static const struct shell *const shells[] = {
	[BASH] = &shell_bash, [ZSH] = &shell_zsh, [FISH] = &shell_fish};

void script__print_text(const struct script *script, const char *text, const char *special)
{
	for (; *text; text++) {
		if (strchr(special, *text))
			fputs(script->shell->backslash, script->out);
		if (*text == '\'')
			fputs(script->shell->apostrophe, script->out);
		else if (*text == '\\')
			fputs(script->shell->backslash, script->out);
		else
			fputc(*text, script->out);
	}
}

void script__print_option(const struct script *script, const struct option_spec *spec,
			  const char *separator)
{
	if (spec->letter)
		fprintf(script->out, "-%c%s", spec->letter, separator);
	fprintf(script->out, "--%s", spec->name);
}

void script__print_applets(const struct script *script, const char *separator)
{
	for (size_t i = 0; script->applets[i]; i++)
		fprintf(script->out, "%s%s", i ? separator : "", script->applets[i]->command.name);
}

/* Every shell expands the choices once more. */
static void print_choices(const struct script *script, const char *const *choices)
{
	for (size_t i = 0; choices[i]; i++) {
		fputs(i ? " " : "", script->out);
		script__print_text(script, choices[i], " '\"\\$`|&;:=<>()[]{}*?~#!^");
	}
}

void script__print_value(const struct script *script, const struct option_spec *spec)
{
	const struct shell *shell = script->shell;

	if (spec->choices) {
		fputs(shell->words_begin, script->out);
		print_choices(script, spec->choices);
		fputs(shell->words_end, script->out);
		return;
	}
	switch (spec->type) {
	case OPTION_FLAG:
	case OPTION_NUMBER:
	case OPTION_CHOICE:
	case OPTION_SIZE:
	case OPTION_SECONDS:
	case OPTION_TEXT:
		fputs(shell->nothing, script->out);
		break;
	case OPTION_PATH:
	case OPTION_PATHS:
		fputs(shell->path, script->out);
		break;
	case OPTION_PIDS:
		fputs(shell->pids, script->out);
		break;
	}
}

int completion__print(const char *shell, const struct command *binary,
		      const struct applet *const *applets, FILE *out)
{
	struct script script = {.out = out, .binary = binary, .applets = applets};

	for (size_t i = 0; completion_shells[i]; i++) {
		if (strcmp(shell, completion_shells[i]))
			continue;
		script.shell = shells[i];
		script.shell->print(&script);
		return 0;
	}
	return -EINVAL;
}
