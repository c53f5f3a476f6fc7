// SPDX-License-Identifier: GPL-2.0-or-later
/* Completion for bash: a function that looks at the word before the one to complete. */
#include "applets/applet.h"
#include "applets/completion_script.h"

static const char functions[] =
	"# Completion of tracekit and its applets for bash, by: tracekit --completion bash\n"
	"# shellcheck shell=bash\n"
	"\n"
	"# cur is the word to complete, prev the one before it.\n"
	"__tracekit_words() {\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
	"}\n"
	"\n"
	"# Fails if what is being typed is no option.\n"
	"__tracekit_options() {\n"
	"\t[[ $cur == -* ]] && __tracekit_words \"$1\"\n"
	"}\n"
	"\n"
	"# By readline, which knows of quotes and ~.\n"
	"__tracekit_path() {\n"
	"\tcompopt -o default\n"
	"}\n"
	"\n"
	"# Those before the last comma stay.\n"
	"__tracekit_pids() {\n"
	"\tlocal processes=(/proc/[1-9]*) before=\n"
	"\n"
	"\t[[ $cur == *,* ]] && before=${cur%,*},\n"
	"\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"${processes[*]##*/}\" -- "
	"\"${cur##*,}\")\n"
	"}\n"
	"\n"
	"# Behind -- there is a command to run. Fails if there is no -- yet.\n"
	"__tracekit_run() {\n"
	"\tlocal at\n"
	"\n"
	"\tfor ((at = 1; at < COMP_CWORD; at++)); do\n"
	"\t\t[[ ${COMP_WORDS[at]} == -- ]] || continue\n"
	"\t\tif declare -F _command_offset >/dev/null; then\n"
	"\t\t\t_command_offset $((at + 1))\n"
	"\t\telif ((COMP_CWORD == at + 1)); then\n"
	"\t\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
	"\t\telse\n"
	"\t\t\tcompopt -o default\n"
	"\t\tfi\n"
	"\t\treturn 0\n"
	"\tdone\n"
	"\treturn 1\n"
	"}\n";

static const char dispatch[] =
	"\n"
	"_tracekit() {\n"
	"\tlocal IFS=$' \\t\\n' command=\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\tif [[ $cur == '=' ]]; then # --option=value is three words\n"
	"\t\tcur=\n"
	"\telif [[ $prev == '=' ]]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n";

/* All options of a command, for when an option is being typed. */
static void print_options(const struct script *script, const struct command *command)
{
	const char *separator = "__tracekit_options '";

	options__for_each(spec, command) {
		if (!spec->name)
			continue;
		fputs(separator, script->out);
		script__print_option(script, spec, " ");
		separator = " ";
	}
	fputs("'", script->out);
}

/* A case for each option that has a value. */
static void print_values(const struct script *script, const struct command *command)
{
	options__for_each(spec, command) {
		if (!spec->name || !spec->value)
			continue;
		fputc('\t', script->out);
		script__print_option(script, spec, " | ");
		fputs(") ", script->out);
		script__print_value(script, spec);
		fputs(" ;;\n", script->out);
	}
}

/* Behind joined letters, as in -fF, comes the value of the last one. */
static void print_unjoin(const struct script *script, const struct command *command)
{
	fputs("\t[[ $prev =~ ^-[", script->out);
	options__for_each(spec, command)
		if (spec->letter && !spec->value)
			fputc(spec->letter, script->out);
	fputs("]+(.)$ ]] && prev=-${BASH_REMATCH[1]}\n", script->out);
}

static void print_applet(const struct script *script, const struct command *command)
{
	fprintf(script->out, "\n_tracekit_%s() {\n", command->name);
	if (command->run_offset)
		fputs("\t__tracekit_run && return\n", script->out);
	print_unjoin(script, command);
	fputs("\tcase $prev in\n", script->out);
	print_values(script, command);
	fputs("\t*) ", script->out);
	print_options(script, command);
	options__for_each(spec, command) {
		if (!spec->name) {
			fputs(" || ", script->out);
			script__print_value(script, spec);
		}
	}
	fputs(" ;;\n\tesac\n}\n", script->out);
}

/* Set command: the name of the program, else its first argument, if that is typed. */
static void print_command(const struct script *script)
{
	fputs("\tcase ${COMP_WORDS[0]##*/} in\n\t", script->out);
	script__print_applets(script, " | ");
	fputs(") command=${COMP_WORDS[0]##*/} ;;\n"
	      "\t*) ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]} ;;\n"
	      "\tesac\n",
	      script->out);
}

static void print_cases(const struct script *script)
{
	fputs("\tcase $command in\n\t'') ", script->out);
	print_options(script, script->binary);
	fputs(" || __tracekit_words '" HELP_WORD " ", script->out);
	script__print_applets(script, " ");
	fputs("' ;;\n\t" HELP_WORD ") __tracekit_words '", script->out);
	script__print_applets(script, " ");
	fputs("' ;;\n", script->out);
	print_values(script, script->binary);
	fputc('\t', script->out);
	script__print_applets(script, " | ");
	fputs(") \"_tracekit_$command\" ;;\n\tesac\n", script->out);
}

static void print(const struct script *script)
{
	fputs(functions, script->out);
	for (size_t i = 0; script->applets[i]; i++)
		print_applet(script, &script->applets[i]->command);
	fputs(dispatch, script->out);
	print_command(script);
	print_cases(script);
	fputs("}\n\ncomplete -F _tracekit tracekit ", script->out);
	script__print_applets(script, " ");
	fputc('\n', script->out);
}

const struct shell shell_bash = {
	.apostrophe = "'\\''",
	.backslash = "\\",
	.nothing = ":",
	.path = "__tracekit_path",
	.pids = "__tracekit_pids",
	.words_begin = "__tracekit_words '",
	.words_end = "'",
	.print = print,
};
