// SPDX-License-Identifier: GPL-2.0-or-later
/* Completion for fish: a line for each option and word, with the condition for it. */
#include "applets/applet.h"
#include "applets/completion_script.h"

static const char functions[] =
	"# Completion of tracekit and its applets for fish, by: tracekit --completion fish\n"
	"\n"
	"# Is WORD the first one behind tracekit? Without it: is that one still to come?\n"
	"function __tracekit_behind\n"
	"\tset -l words (commandline -opc)\n"
	"\ttest \"$words[2]\" = \"$argv\"\n"
	"end\n"
	"\n"
	"# What the command behind -- completes, or the names of commands.\n"
	"function __tracekit_run\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l at (contains -i -- -- $words); or return 1\n"
	"\tset -l rest (string escape -- $words[(math $at + 1)..-1])\n"
	"\tcomplete -C \"$rest \"(commandline -ct)\n"
	"end\n"
	"\n"
	"complete -c tracekit -f\n";

#define AS_FIRST_WORD "complete -c tracekit -n __tracekit_behind"

static void print_text(const struct script *script, const char *text)
{
	fputs(" -d '", script->out);
	script__print_text(script, text, "");
	fputs("'\n", script->out);
}

/* start: "complete", the command and the condition. */
static void print_option(const struct script *script, const char *start,
			 const struct option_spec *spec)
{
	fputs(start, script->out);
	if (spec->letter)
		fprintf(script->out, " -s %c", spec->letter);
	fprintf(script->out, " -l %s", spec->name);
}

static void print_applets(const struct script *script, const char *start)
{
	for (size_t i = 0; script->applets[i]; i++) {
		const struct command *command = &script->applets[i]->command;

		fprintf(script->out, "%s -a %s", start, command->name);
		print_text(script, command->summary);
	}
}

/* The binary's own options stand alone, and take their values as separate words. */
static void print_binary(const struct script *script)
{
	print_applets(script, AS_FIRST_WORD);
	fputs(AS_FIRST_WORD " -a " HELP_WORD, script->out);
	print_text(script, HELP_SUMMARY);
	print_applets(script, "complete -c tracekit -n '__tracekit_behind " HELP_WORD "'");
	options__for_each(spec, script->binary) {
		print_option(script, AS_FIRST_WORD, spec);
		print_text(script, spec->help);
		if (spec->value) {
			fprintf(script->out, "complete -c tracekit -n '__tracekit_behind --%s' ",
				spec->name);
			script__print_value(script, spec);
			fputc('\n', script->out);
		}
	}
}

static void print_rows(const struct script *script, const struct command *command,
		       const char *start)
{
	options__for_each(spec, command) {
		if (spec->name)
			print_option(script, start, spec);
		else
			fputs(start, script->out);
		if (spec->value) {
			fputc(' ', script->out);
			script__print_value(script, spec);
		}
		print_text(script, spec->help);
	}
	if (command->run_offset)
		fprintf(script->out, "%s -x -a '(__tracekit_run)'\n", start);
}

/* The applet behind tracekit, and behind a link. */
static void print_applet(const struct script *script, const struct command *command)
{
	char start[128];

	snprintf(start, sizeof(start), "complete -c tracekit -n '__tracekit_behind %s'",
		 command->name);
	fputc('\n', script->out);
	print_rows(script, command, start);
	snprintf(start, sizeof(start), "complete -c %s", command->name);
	fprintf(script->out, "\n%s -f\n", start);
	print_rows(script, command, start);
}

static void print(const struct script *script)
{
	fputs(functions, script->out);
	print_binary(script);
	for (size_t i = 0; script->applets[i]; i++)
		print_applet(script, &script->applets[i]->command);
}

const struct shell shell_fish = {
	.apostrophe = "\\'",
	.backslash = "\\\\",
	.nothing = "-x",
	.path = "-r -F",
	.pids = "-x -a '(__fish_complete_list , __fish_complete_pids)'",
	.words_begin = "-x -a '",
	.words_end = "'",
	.print = print,
};
