// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/options/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "core/options/near_names.h"
#include "core/options/pid_list.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/number.h"
#include "sym/util/text.h"

/* More rows than any applet has; checked, not assumed. */
#define MAX_OPTIONS 60

static const struct option_spec help_option = {
	.letter = 'h', .name = "help", .type = OPTION_FLAG, .help = "show this help and exit"};

const struct option_spec *options__next(const struct command *command,
					const struct option_spec *spec)
{
	if (!spec)
		return &help_option;
	spec = spec == &help_option ? command->options : spec + 1;
	return spec->help ? spec : NULL;
}

/* The rows of a command by number, as getopt returns them: -h first. */
struct option_rows {
	const struct option_spec *rows[MAX_OPTIONS];
	size_t nr;
	const struct option_spec *positional; /* or NULL */
};

static struct option_rows collect_rows(const struct command *command)
{
	struct option_rows all = {.nr = 0};

	options__for_each(spec, command) {
		if (!spec->name)
			all.positional = spec;
		else if (all.nr < MAX_OPTIONS)
			all.rows[all.nr++] = spec;
		else
			abort(); /* a table that no test has ever seen */
	}
	return all;
}

/* How messages name an option: as the user most likely typed it. */
static const char *option_label(const struct option_spec *spec, char label[64])
{
	if (!spec->name)
		snprintf(label, 64, "%s", spec->value);
	else if (spec->letter)
		snprintf(label, 64, "-%c", spec->letter);
	else
		snprintf(label, 64, "--%s", spec->name);
	return label;
}

/* "cpu-clock, cycles"; "" if there are none */
static void list_choices(const struct option_spec *spec, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; spec->choices && spec->choices[i] && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
					 spec->choices[i]);
}

/* "4K": in the largest unit that divides it. */
static const char *size_label(uint64_t bytes, char label[24])
{
	static const char *const units[] = {"", "K", "M", "G"};
	size_t unit = 0;

	for (; bytes && bytes % 1024 == 0 && unit + 1 < ARRAY_SIZE(units); unit++)
		bytes /= 1024;
	snprintf(label, 24, "%ju%s", (uintmax_t)bytes, units[unit]);
	return label;
}

static int bad_value(const struct option_spec *spec, const char *text, struct error *error)
{
	char label[64], choices[256], min[24], max[24];

	option_label(spec, label);
	switch (spec->type) {
	case OPTION_NUMBER:
		list_choices(spec, choices, sizeof(choices));
		return error__set(error, -EINVAL,
				  "%s: '%.200s' is not a whole number from %ju to %ju%s%s", label,
				  text, (uintmax_t)spec->min, (uintmax_t)spec->max,
				  choices[0] ? ", and none of: " : "", choices);
	case OPTION_SIZE:
		return error__set(
			error, -EINVAL,
			"%s: '%.200s' is not a size from %s to %s, in bytes, or K, M or G", label,
			text, size_label(spec->min, min), size_label(spec->max, max));
	case OPTION_SECONDS:
		return error__set(error, -EINVAL, "%s: '%.200s' is not a number of seconds above 0",
				  label, text);
	case OPTION_PATH:
	case OPTION_PATHS:
		return error__set(error, -EINVAL, "%s: '' is not a path", label);
	case OPTION_TEXT:
		return error__set(error, -EINVAL, "%s: has more than %ju bytes", label,
				  (uintmax_t)spec->max);
	case OPTION_CHOICE:
		list_choices(spec, choices, sizeof(choices));
		return error__set(error, -EINVAL, "%s: '%.200s' is none of: %s", label, text,
				  choices);
	default: /* PID or TID */
		return error__set(error, -EINVAL,
				  "%s: '%.200s' is not a %.3s or a list like 42,1042", label, text,
				  spec->value);
	}
}

static bool pids__has(const pid_t *pids, size_t nr, pid_t pid)
{
	for (size_t i = 0; i < nr; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* Returns 0, -EINVAL if text is no list of PIDs, or -ENOMEM. Each PID is in the list once. */
static int parse_pids(const char *text, struct pid_list *list)
{
	CLEANUP_FREE char *copy = strdup(text);
	CLEANUP_FREE pid_t *pids = NULL;
	size_t nr = 0, capacity = 0;
	char *rest = copy, *word;

	if (!copy)
		return -ENOMEM;
	while ((word = strsep(&rest, ","))) {
		uint64_t pid;

		if (number__parse(word, 1, INT_MAX, &pid))
			return -EINVAL;
		if (pids__has(pids, nr, (pid_t)pid))
			continue;
		if (ARRAY_GROW(pids, nr, capacity))
			return -ENOMEM;
		pids[nr++] = (pid_t)pid;
	}
	*list = (struct pid_list){.pids = TAKE_POINTER(pids), .nr = nr};
	return 0;
}

/* Returns 0, or -EINVAL if text is no word of choices. */
static int parse_choice(const char *text, const char *const *choices, size_t *choice)
{
	for (size_t i = 0; choices[i]; i++) {
		if (!strcmp(text, choices[i])) {
			*choice = i;
			return 0;
		}
	}
	return -EINVAL;
}

/* Returns 0, -EINVAL if it is empty, or -E2BIG. */
static int add_path(const char *text, struct path_list *list)
{
	if (!text[0])
		return -EINVAL;
	if (list->nr == PATHS_MAX)
		return -E2BIG;
	list->paths[list->nr++] = text;
	return 0;
}

/* True for "-5", "5w" and ".5": whoever wrote that meant a number. */
static bool looks_like_number(const char *text)
{
	text += strspn(text, "+-.");
	return *text >= '0' && *text <= '9';
}

/* Returns 0, or -EINVAL or -ERANGE. */
static int parse_seconds(const struct option_spec *spec, const char *text, void *settings)
{
	int err = number__parse_seconds(text, (uint64_t *)((char *)settings + spec->offset));

	if (!err && spec->bare_offset)
		*(bool *)((char *)settings + spec->bare_offset) =
			text[strspn(text, "0123456789")] == '\0';
	return err;
}

/* Returns 0 or -EINVAL. */
static int parse_number(const struct option_spec *spec, const char *text, uint64_t *number)
{
	size_t choice;

	if (!spec->choices || parse_choice(text, spec->choices, &choice))
		return number__parse(text, spec->min, spec->max, number);
	*number = spec->numbers[choice];
	return 0;
}

static int store_value(const struct option_spec *spec, const char *text, void *settings,
		       struct error *error)
{
	void *field = (char *)settings + spec->offset;
	char label[64];
	int err = 0;

	switch (spec->type) {
	case OPTION_FLAG:
		*(bool *)field = true;
		break;
	case OPTION_NUMBER:
		err = parse_number(spec, text, field);
		break;
	case OPTION_SIZE:
		err = number__parse_size(text, spec->min, spec->max, field);
		break;
	case OPTION_SECONDS:
		err = parse_seconds(spec, text, settings);
		break;
	case OPTION_PIDS:
		err = parse_pids(text, field);
		break;
	case OPTION_TEXT:
		*(const char **)field = text;
		err = spec->max && strlen(text) > spec->max ? -EINVAL : 0;
		break;
	case OPTION_PATH:
		*(const char **)field = text;
		err = text[0] ? 0 : -EINVAL;
		break;
	case OPTION_PATHS:
		err = add_path(text, field);
		break;
	case OPTION_CHOICE:
		err = parse_choice(text, spec->choices, field);
		break;
	}
	if (err == -ENOMEM)
		return error__set(error, err, "cannot read the command line: out of memory");
	if (err == -E2BIG)
		return error__set(error, -EINVAL, "%s: given more than %d times",
				  option_label(spec, label), PATHS_MAX);
	return err ? bad_value(spec, text, error) : 0;
}

/* getopt's view of the rows: a long option's val is its row, a short one's its letter. */
#define ROW_BASE 256

static void fill_getopt(const struct option_rows *all, char *letters, struct option *longs)
{
	*letters++ =
		':'; /* getopt stays silent, and tells a missing value from an unknown option */
	for (size_t i = 0; i < all->nr; i++) {
		const struct option_spec *spec = all->rows[i];

		longs[i] = (struct option){.name = spec->name,
					   .has_arg = spec->value ? required_argument : no_argument,
					   .val = ROW_BASE + (int)i};
		if (spec->letter) {
			*letters++ = spec->letter;
			if (spec->value)
				*letters++ = ':';
		}
	}
	*letters = '\0';
	longs[all->nr] = (struct option){0};
}

/* The word of the long option that getopt has just returned, without its dashes. */
static const char *long_word(char **argv)
{
	const char *word = argv[optind - 1];

	/* The value was a separate word: go back by one more. */
	if (optarg == word)
		word = argv[optind - 2];
	return word + strspn(word, "-");
}

/* getopt accepts --fol for --folded; we do not. */
static bool spelled_out(const char *word, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(word, name, length) && (word[length] == '\0' || word[length] == '=');
}

/* The row that getopt's value stands for; all->nr if it is abbreviated, or unknown. */
static size_t find_row(const struct option_rows *all, int value, char **argv)
{
	for (size_t i = 0; i < all->nr; i++) {
		const struct option_spec *spec = all->rows[i];

		if (value == ROW_BASE + (int)i)
			return spelled_out(long_word(argv), spec->name) ? i : all->nr;
		if (spec->letter && value == spec->letter)
			return i;
	}
	return all->nr;
}

static void offer(struct near_names *near, const struct command *command, const char *beginning)
{
	options__for_each(spec, command)
		if (spec->name && text__begins(spec->name, beginning))
			near_names__offer(near, spec->name);
}

/*
 * Long options near to name, compared without dashes, and shown with them: those that it
 * abbreviates, or else any.
 */
static void find_near(const struct command *command, const char *name, char *text, size_t size)
{
	struct near_names near = {.wanted = name};

	offer(&near, command, name);
	if (!near.nr)
		offer(&near, command, "");
	for (size_t i = 0; i < near.nr; i++) {
		char bare[NEAR_NAME_SIZE];

		strcpy(bare, near.names[i].name);
		snprintf(near.names[i].name, NEAR_NAME_SIZE, "--%.*s", NEAR_NAME_SIZE - 3, bare);
	}
	near_names__text(&near, text, size);
}

int options__unknown(const struct command *command, const char *word, struct error *error)
{
	const char *name = word + strspn(word, "-");
	CLEANUP_FREE char *bare = strndup(name, strcspn(name, "="));
	char near[NEAR_NAMES_TEXT_SIZE] = "";

	if (bare && text__begins(word, "--"))
		find_near(command, bare, near, sizeof(near));
	return error__set(error, -EINVAL, "unknown option '%.200s'%s", word, near);
}

/* Letters that other applets have for what an applet may have by another letter, or by none. */
static const struct {
	char letter;
	const char *name;
} elsewhere[] = {{'t', "tid"}, {'L', "tid"}, {'C', "cpu"}, {'c', "cpu"}, {'D', "duration"}};

/* Write " (did you mean '-L'?)", or nothing: what the letter of no option of command may mean. */
static void find_letter(const struct command *command, char letter, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++) {
		if (elsewhere[i].letter != letter)
			continue;
		options__for_each(spec, command) {
			if (spec->name && spec->letter && !strcmp(spec->name, elsewhere[i].name))
				snprintf(text, size, " (did you mean '-%c'?)", spec->letter);
			if (!spec->name && !strcmp(spec->value, elsewhere[i].name))
				snprintf(text, size, ": the %s stands by itself, as in '%s 5'",
					 spec->value, command->name);
		}
	}
}

/* Report getopt's '?'. Its optopt is 0 for long options, and signed for others. */
static int unknown_option(const struct command *command, char **argv, struct error *error)
{
	CLEANUP_FREE char *word = NULL;
	char near[96];

	if (optopt != 0 && optopt < ROW_BASE) {
		find_letter(command, (char)optopt, near, sizeof(near));
		return error__set(error, -EINVAL, "unknown option '-%c'%s", optopt, near);
	}
	if (asprintf(&word, "--%s", long_word(argv)) < 0) {
		word = NULL;
		return error__set(error, -EINVAL, "unknown option '--%.200s'", long_word(argv));
	}
	return options__unknown(command, word, error);
}

/* getopt knows an option, but its value is missing or not allowed: say so. */
static int wrong_use(const struct command *command, const struct option_rows *all, char **argv,
		     bool lacks_value, struct error *error)
{
	size_t row = find_row(all, optopt, argv);
	char label[64];

	if (row == all->nr)
		return unknown_option(command, argv, error);
	option_label(all->rows[row], label);
	if (lacks_value)
		return error__set(error, -EINVAL, "%s: needs a value, %s", label,
				  all->rows[row]->value);
	return error__set(error, -EINVAL, "%s: takes no value", label);
}

/* The first of the words that are left over and could be PIDs; NULL if there is none. */
static const char *find_number(int argc, char **argv)
{
	uint64_t number;

	for (int i = optind; i < argc; i++)
		if (!number__parse(argv[i], 1, INT_MAX, &number))
			return argv[i];
	return NULL;
}

/* What lists PIDs or TIDs on the command line, and the word behind it. */
struct given_pids {
	const struct option_spec *spec; /* NULL: nothing */
	const char *text;
};

static int too_many(const struct command *command, const char *word, const struct given_pids *pids,
		    int argc, char **argv, struct error *error)
{
	const char *number = pids->spec ? find_number(argc, argv) : NULL;
	char label[64];

	if (number) /* as in -p $(pidof x) */
		return error__set(error, -EINVAL,
				  "'%.200s': too many arguments; more %.3ss are given as %s "
				  "%.100s,%s",
				  word, pids->spec->value, option_label(pids->spec, label),
				  pids->text, number);
	return error__set(error, -EINVAL, "'%.200s': too many arguments%s", word,
			  command->run_offset ? "; to run a command, put -- before it" : "");
}

static int parse_positional(const struct command *command, const struct option_rows *all,
			    const struct given_pids *pids, int argc, char **argv, void *settings,
			    struct error *error)
{
	const struct option_spec *spec = all->positional;
	int behind = optind + (spec ? 1 : 0);
	const char *word = argv[optind];
	char label[64];

	if (optind == argc) {
		if (!spec || !spec->required)
			return 0;
		return error__set(error, -EINVAL, "needs a %s", spec->value);
	}
	/* Also if more words follow: "profile sleep 5" is a command. */
	if (spec && spec->type == OPTION_SECONDS && command->run_offset && word[0] &&
	    !looks_like_number(word))
		return error__set(error, -EINVAL,
				  "%s: '%.200s' is not a number of seconds above 0; to run a "
				  "command, put -- before it",
				  option_label(spec, label), word);
	if (behind < argc)
		return too_many(command, argv[behind], pids, argc, argv, error);
	return store_value(spec, word, settings, error);
}

/*
 * Cut off what stands behind "--", to run. getopt would put words before it behind it. Returns 0 or
 * -EINVAL with error filled.
 */
static int take_run(const struct command *command, int *argc, char **argv, void *settings,
		    struct error *error)
{
	int at = 1;

	while (at < *argc && strcmp(argv[at], "--"))
		at++;
	if (!command->run_offset || at >= *argc)
		return 0;
	if (at + 1 == *argc)
		return error__set(error, -EINVAL, "--: needs a COMMAND behind it");
	*(char *const **)((char *)settings + command->run_offset) = &argv[at + 1];
	*argc = at;
	return 0;
}

int options__parse(const struct command *command, int argc, char **argv, void *settings,
		   struct error *error)
{
	struct option_rows all = collect_rows(command);
	struct option longs[MAX_OPTIONS + 1];
	char letters[2 * MAX_OPTIONS + 2];
	bool given[MAX_OPTIONS] = {false};
	struct given_pids pids = {0};
	int value, err = take_run(command, &argc, argv, settings, error);

	if (err)
		return err;
	fill_getopt(&all, letters, longs);
	opterr = 0;
	optind = 0; /* glibc: start anew */
	while ((value = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		size_t row;

		if (value == ':' || (value == '?' && optopt >= ROW_BASE))
			return wrong_use(command, &all, argv, value == ':', error);
		row = value == '?' ? all.nr : find_row(&all, value, argv);
		if (row == all.nr)
			return unknown_option(command, argv, error);
		if (all.rows[row] == &help_option)
			return OPTIONS_HELP;
		if (given[row] && all.rows[row]->value && all.rows[row]->type != OPTION_PATHS) {
			char label[64];

			return error__set(error, -EINVAL, "%s: given twice",
					  option_label(all.rows[row], label));
		}
		given[row] = true;
		if (all.rows[row]->type == OPTION_PIDS)
			pids = (struct given_pids){.spec = all.rows[row], .text = optarg};
		err = store_value(all.rows[row], optarg, settings, error);
		if (err)
			return err;
	}
	return parse_positional(command, &all, &pids, argc, argv, settings, error);
}

void options__release(const struct command *command, void *settings)
{
	options__for_each(spec, command) {
		if (spec->type == OPTION_PIDS) {
			struct pid_list *list = (void *)((char *)settings + spec->offset);

			free(list->pids);
			*list = (struct pid_list){0};
		}
	}
}
