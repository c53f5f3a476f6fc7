/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command lines from tables: an applet declares each option once, and parsing,
 * help and completion all come from that row.
 *
 * Parsing never acts: it fills a struct, and nothing is opened, loaded or
 * looked up until the whole command line is known to be valid.
 */
#ifndef TRACEKIT_CORE_OPTIONS_OPTIONS_H
#define TRACEKIT_CORE_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct error;

enum option_type {
	OPTION_FLAG,	/* bool; no value; may be repeated */
	OPTION_NUMBER,	/* uint64_t, from min to max; or a word of choices */
	OPTION_SIZE,	/* uint64_t, bytes, from min to max; may have a K, M or G behind it */
	OPTION_SECONDS, /* uint64_t, nanoseconds; and a bool, if bare_offset is not 0 */
	OPTION_PIDS,	/* struct pid_list, comma-separated */
	OPTION_PATH,	/* const char *, the word itself, which argv keeps */
	OPTION_PATHS,	/* struct path_list of such words; may be repeated */
	OPTION_TEXT,	/* a word as OPTION_PATH, of max bytes at most if that is not 0 */
	OPTION_CHOICE,	/* size_t, index into choices */
};

#define PATHS_MAX 8

struct path_list {
	const char *paths[PATHS_MAX];
	size_t nr;
};

/* What an option is about: help prints them group by group, and pages of the manual as well. */
enum option_group {
	GROUP_OTHER, /* with -h */
	GROUP_TRACED,
	GROUP_TIME,
	GROUP_SHOWN,
	GROUP_OUTPUT,
	GROUP_LIMITS,
	NR_OPTION_GROUPS,
};

struct option_spec {
	char letter;	   /* 0: has only a long name */
	const char *name;  /* long name; NULL: the applet's only positional argument */
	const char *value; /* the value's name in help; NULL for a flag */
	enum option_type type;
	enum option_group group;
	size_t offset;	    /* of its field in the applet's struct of settings */
	size_t bare_offset; /* of a bool: the word is a whole number alone, without a unit */
	uint64_t min, max;
	bool required; /* of the positional argument */
	const char *const
		*choices;	 /* of OPTION_CHOICE, or words for some numbers; ends with NULL */
	const uint64_t *numbers; /* of OPTION_NUMBER with choices: what each of them stands for */
	const char *help;
};

struct command {
	const char *name;
	const char *summary;
	const struct option_spec *options; /* ends with an all-zero row */
	const char *examples;		   /* lines, each with its newline */
	/* Of a char *const * for what stands behind "--": a command to run. 0: nothing may. */
	size_t run_offset;
};

/* options__parse() also returns this, besides 0 (run) and -EINVAL (wrong usage). */
#define OPTIONS_HELP 1

/*
 * Parse argv[1..] into settings, which hold the defaults. -h and --help are
 * built in. Returns 0, OPTIONS_HELP, or -EINVAL or -ENOMEM with error filled;
 * options that precede a faulty one have then been stored. Whoever prints an error of -EINVAL says
 * where the help is.
 */
int options__parse(const struct command *command, int argc, char **argv, void *settings,
		   struct error *error);

/*
 * A word that begins with '-' is no option of command: fill error, which ends with those that it is
 * near to. Returns -EINVAL.
 */
int options__unknown(const struct command *command, const char *word, struct error *error);

/* Free what options__parse() allocated inside settings. */
void options__release(const struct command *command, void *settings);

/*
 * The row behind spec, or the first if spec is NULL; NULL behind the last. -h comes first, then the
 * rows of the command in their order.
 */
const struct option_spec *options__next(const struct command *command,
					const struct option_spec *spec);

#define options__for_each(spec, command)                                                           \
	for (const struct option_spec *spec = options__next(command, NULL); spec;                  \
	     spec = options__next(command, spec))

void options__print_help(const struct command *command, FILE *out);

/* Print the part of the help that describes the options, below its own headings. */
void options__print_options(const struct command *command, FILE *out);

#endif
