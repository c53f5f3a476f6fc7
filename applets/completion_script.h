/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the completion scripts of all shells. */
#ifndef TRACEKIT_APPLETS_COMPLETION_SCRIPT_H
#define TRACEKIT_APPLETS_COMPLETION_SCRIPT_H

#include <stdio.h>

struct applet;
struct command;
struct option_spec;
struct script;

/* The syntax of a shell. All text from the tables stands within single quotes. */
struct shell {
	const char *apostrophe, *backslash;  /* within single quotes */
	const char *nothing;		     /* completes a value that nobody can guess, */
	const char *path, *pids;	     /* a path, a comma-separated list of PIDs, */
	const char *words_begin, *words_end; /* one of the words between these */
	void (*print)(const struct script *script);
};

extern const struct shell shell_bash, shell_fish, shell_zsh;

struct script {
	FILE *out;
	const struct shell *shell;
	const struct command *binary;
	const struct applet *const *applets; /* ends with NULL */
};

/* The only word behind tracekit that is neither an applet nor an option. */
#define HELP_WORD    "help"
#define HELP_SUMMARY "show all options of an applet"

/*
 * Print text within single quotes. Each character of special gets a backslash, for a shell that
 * reads the text once more.
 */
void script__print_text(const struct script *script, const char *text, const char *special);

/* "-F | --frequency", with separator between the two. */
void script__print_option(const struct script *script, const struct option_spec *spec,
			  const char *separator);

/* The names of all applets. */
void script__print_applets(const struct script *script, const char *separator);

/* Print what completes the value of an option, or the positional argument. */
void script__print_value(const struct script *script, const struct option_spec *spec);

#endif
