// SPDX-License-Identifier: GPL-2.0-or-later
/* Completion for zsh: input of its functions _arguments and _describe. */
#include "applets/applet.h"
#include "applets/completion_script.h"

/* These characters end a part of an argument of _arguments. */
#define SPECIAL "\\[]:"

static const char functions[] =
	"\n"
	"# Completion of tracekit and its applets for zsh, by: tracekit --completion zsh\n"
	"\n"
	"__tracekit_pids() {\n"
	"\tlocal -a expl processes=(${(f)\"$(ps -A -o pid= -o comm=)\"})\n"
	"\tlocal -a pids=(${${processes## #}%% *})\n"
	"\n"
	"\t_wanted processes expl process compadd \"$@\" -l -d processes -a pids\n"
	"}\n"
	"\n"
	"# Behind -- there is a command to run. Fails if there is no -- yet.\n"
	"__tracekit_run() {\n"
	"\tlocal at=${words[(ie)--]}\n"
	"\n"
	"\t((at < CURRENT)) || return 1\n"
	"\tshift $at words\n"
	"\t((CURRENT -= at))\n"
	"\t_normal\n"
	"\treturn 0\n"
	"}\n";

static const char dispatch[] = "\n"
			       "_tracekit() {\n"
			       "\tlocal command=$service\n"
			       "\n"
			       "\tif [[ $command == tracekit ]]; then\n"
			       "\t\tif ((CURRENT == 2)); then\n"
			       "\t\t\t__tracekit_first\n"
			       "\t\t\treturn\n"
			       "\t\tfi\n"
			       "\t\tcommand=$words[2]\n"
			       "\t\tshift words\n"
			       "\t\t((CURRENT--))\n"
			       "\tfi\n"
			       "\tcase $command in\n";

static const char start[] =
	"\n"
	"# The file that zsh loads when it is first needed, or a script that is sourced.\n"
	"if [[ $funcstack[1] == _tracekit ]]; then\n"
	"\t_tracekit \"$@\"\n"
	"else\n"
	"\tcompdef _tracekit tracekit ";

/* 'profile:What it does.' */
static void print_described(const struct script *script, const char *word, const char *text)
{
	fprintf(script->out, "\t\t'%s:", word);
	script__print_text(script, text, "\\:");
	fputs("'\n", script->out);
}

static void print_described_option(const struct script *script, const struct option_spec *spec)
{
	char form[64];

	if (spec->letter) {
		snprintf(form, sizeof(form), "-%c", spec->letter);
		print_described(script, form, spec->help);
	}
	snprintf(form, sizeof(form), "--%s", spec->name);
	print_described(script, form, spec->help);
}

static void print_first_words(const struct script *script)
{
	fputs("\n__tracekit_applets() {\n\tlocal -a applets=(\n", script->out);
	for (size_t i = 0; script->applets[i]; i++)
		print_described(script, script->applets[i]->command.name,
				script->applets[i]->command.summary);
	fputs("\t)\n\n\t_describe -t applets applet applets\n}\n", script->out);
	fputs("\n__tracekit_first() {\n\tlocal ret=1\n\tlocal -a help_word=(\n", script->out);
	print_described(script, HELP_WORD, HELP_SUMMARY);
	fputs("\t) own_options=(\n", script->out);
	options__for_each(spec, script->binary)
		print_described_option(script, spec);
	fputs("\t)\n\n"
	      "\t__tracekit_applets && ret=0\n"
	      "\t_describe -t commands command help_word && ret=0\n"
	      "\t_describe -o option own_options && ret=0\n"
	      "\treturn ret\n"
	      "}\n",
	      script->out);
}

/* :VALUE:what completes it */
static void print_argument(const struct script *script, const struct option_spec *spec)
{
	fputc(':', script->out);
	script__print_text(script, spec->value, "\\:");
	fputc(':', script->out);
	script__print_value(script, spec);
}

/* '(-F --frequency)--frequency=[what it does]:FREQUENCY: ' */
static void print_form(const struct script *script, const struct option_spec *spec,
		       const char *form, const char *before_value)
{
	fputs(" \\\n\t\t'(", script->out);
	script__print_option(script, spec, " ");
	fprintf(script->out, ")%s%s[", form, spec->value ? before_value : "");
	script__print_text(script, spec->help, SPECIAL);
	fputc(']', script->out);
	if (spec->value)
		print_argument(script, spec);
	fputc('\'', script->out);
}

static void print_row(const struct script *script, const struct option_spec *spec)
{
	char form[64];

	if (!spec->name) {
		fputs(" \\\n\t\t':", script->out);
		print_argument(script, spec);
		fputc('\'', script->out);
		return;
	}
	if (spec->letter) {
		snprintf(form, sizeof(form), "-%c", spec->letter);
		print_form(script, spec, form, "+");
	}
	snprintf(form, sizeof(form), "--%s", spec->name);
	print_form(script, spec, form, "=");
}

static void print_applet(const struct script *script, const struct command *command)
{
	fprintf(script->out, "\n_tracekit_%s() {\n", command->name);
	if (command->run_offset)
		fputs("\t__tracekit_run && return\n", script->out);
	fputs("\t_arguments -s -S :", script->out);
	options__for_each(spec, command)
		print_row(script, spec);
	fputs("\n}\n", script->out);
}

/* A case for each first word that others can follow. */
static void print_cases(const struct script *script)
{
	fputs("\t" HELP_WORD ") __tracekit_applets ;;\n", script->out);
	options__for_each(spec, script->binary) {
		if (!spec->value)
			continue;
		fprintf(script->out, "\t--%s) _arguments '*", spec->name);
		print_argument(script, spec);
		fputs("' ;;\n", script->out);
	}
	fputc('\t', script->out);
	script__print_applets(script, " | ");
	fputs(") _tracekit_$command ;;\n\tesac\n}\n", script->out);
}

static void print(const struct script *script)
{
	fputs("#compdef tracekit ", script->out);
	script__print_applets(script, " ");
	fputs(functions, script->out);
	print_first_words(script);
	for (size_t i = 0; script->applets[i]; i++)
		print_applet(script, &script->applets[i]->command);
	fputs(dispatch, script->out);
	print_cases(script);
	fputs(start, script->out);
	script__print_applets(script, " ");
	fputs("\nfi\n", script->out);
}

const struct shell shell_zsh = {
	.apostrophe = "'\\''",
	.backslash = "\\",
	.nothing = " ",
	.path = "_files",
	.pids = "_sequence __tracekit_pids",
	.words_begin = "(",
	.words_end = ")",
	.print = print,
};
