// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/options/options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/options/trace_options.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/number.h"
#include "test/unit/tap.h"

struct settings {
	struct trace_options trace;
	uint64_t frequency;
	uint64_t duration;
	const char *cgroup;
	size_t event;
	size_t mode;
	uint64_t buffer;
};

static const char *const events[] = {"cpu-clock", "cycles", NULL};
static const char *const one_mode[] = {"only", NULL};

static const struct option_spec options[] = {
	{.letter = 'F',
	 .name = "frequency",
	 .value = "FREQUENCY",
	 .type = OPTION_NUMBER,
	 .offset = offsetof(struct settings, frequency),
	 .min = 1,
	 .max = 1000,
	 .help = "samples per second (default 49)"},
	{.name = "cgroup",
	 .value = "PATH",
	 .type = OPTION_PATH,
	 .offset = offsetof(struct settings, cgroup),
	 .help = "only the processes of this cgroup"},
	{.letter = 'e',
	 .name = "event",
	 .value = "EVENT",
	 .type = OPTION_CHOICE,
	 .offset = offsetof(struct settings, event),
	 .choices = events,
	 .help = "what is counted"},
	{.name = "mode",
	 .value = "MODE",
	 .type = OPTION_CHOICE,
	 .offset = offsetof(struct settings, mode),
	 .choices = one_mode,
	 .help = "how"},
	{.letter = 'b',
	 .name = "buffer-size",
	 .value = "SIZE",
	 .type = OPTION_SIZE,
	 .offset = offsetof(struct settings, buffer),
	 .min = 4096,
	 .max = 1 << 30,
	 .help = "room for what was not read yet (default 4M)"},
	TRACE_OPTION_ROWS(struct settings, DELIMITED_HELP, VERBOSE_HELP),
	TABLE_OPTION_ROWS(struct settings),
	{.value = "duration",
	 .type = OPTION_SECONDS,
	 .offset = offsetof(struct settings, duration),
	 .help = "how long to sample"},
	{0},
};

static const struct command command = {.name = "applet",
				       .summary = "What it does.",
				       .options = options,
				       .examples = "  applet 5    # five seconds\n"};

static struct settings settings;
static struct error error;

static const struct command timed;

/* All lists of PIDs that any of the commands here has. */
static void release(void)
{
	options__release(&command, &settings);
	options__release(&timed, &settings);
}

#define MAX_WORDS 8

/* The words of argv, kept until the next command line: paths point there. */
static char words[2048];

/* Parse a command line into settings and error; words are separated by single spaces. */
static int parse_as(const struct command *as, const char *line)
{
	char *argv[MAX_WORDS + 1] = {(char *)as->name}, *rest = words;
	int argc = 1;

	snprintf(words, sizeof(words), "%s", line);
	release();
	settings = (struct settings){.trace = TRACE_OPTIONS_DEFAULTS, .frequency = 49};
	error.text[0] = '\0';
	while (line[0] && rest && argc < MAX_WORDS)
		argv[argc++] = strsep(&rest, " ");
	return options__parse(as, argc, argv, &settings, &error);
}

static int parse(const char *line)
{
	return parse_as(&command, line);
}

/* A usage error, with this text. */
#define CHECK_REFUSED(line, message)                                                               \
	(CHECK_INT(parse(line), -EINVAL), CHECK_STR(error.text, message))

static void defaults_stay(void)
{
	CHECK_INT(parse(""), 0);
	CHECK_INT(settings.frequency, 49);
	CHECK_INT(settings.duration, 0);
	CHECK_INT(settings.trace.hash_storage_size, 0);
	CHECK_INT(settings.trace.stack_storage_size, 0);
	CHECK_INT(settings.trace.pids.nr, 0);
	CHECK(!settings.trace.folded && !settings.trace.stats);
	CHECK_STR(error.text, "");
}

static void all_forms(void)
{
	static const char *const lines[] = {
		"-F 99 -fd -p 7 5",	   "-F99 -f -d -p7 5",
		"-dfF99 -p 7 5",	   "5 -F 99 -dfp7",
		"--frequency 99 -fdp 7 5", "--frequency=99 --folded -d --pid=7 5",
		"-f -F 99 5 -d -p7",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		bool right = parse(lines[i]) == 0 && settings.frequency == 99 &&
			     settings.trace.folded && settings.trace.delimited &&
			     !settings.trace.offsets && settings.trace.pids.nr == 1 &&
			     settings.trace.pids.pids[0] == 7 &&
			     settings.duration == 5 * NANOSECONDS;

		tap_check(right, __FILE__, __LINE__, "'%s' is not read right: %s", lines[i],
			  error.text);
	}
	CHECK_INT(parse("--stats --hash-storage-size 1 --stack-storage-size=16777216"), 0);
	CHECK(settings.trace.stats);
	CHECK_INT(settings.trace.hash_storage_size, 1);
	CHECK_INT(settings.trace.stack_storage_size, STORAGE_SIZE_MAX);
}

static void flags_may_be_repeated(void)
{
	CHECK_INT(parse("-f -ff --folded"), 0);
	CHECK(settings.trace.folded);
}

static void double_dash_ends_options(void)
{
	CHECK_INT(parse("-f -- 5"), 0);
	CHECK_INT(settings.duration, 5 * NANOSECONDS);
	CHECK_REFUSED("-- -f", "duration: '-f' is not a number of seconds above 0");
	CHECK_INT(parse("--"), 0);
}

static void help_wins_over_what_follows(void)
{
	CHECK_INT(parse("-h"), OPTIONS_HELP);
	CHECK_INT(parse("--help"), OPTIONS_HELP);
	CHECK_INT(parse("-fh --nonsense"), OPTIONS_HELP);
	CHECK_INT(parse("--nonsense -h"), -EINVAL);
}

static void lists_of_pids(void)
{
	CHECK_INT(parse("-p 1,42,2147483647"), 0);
	if (CHECK_INT(settings.trace.pids.nr, 3)) {
		CHECK_INT(settings.trace.pids.pids[1], 42);
		CHECK_INT(settings.trace.pids.pids[2], INT_MAX);
	}
	CHECK_REFUSED("-p 0", "-p: '0' is not a PID or a list like 42,1042");
	CHECK_REFUSED("-p 2147483648", "-p: '2147483648' is not a PID or a list like 42,1042");
	CHECK_REFUSED("-p 1,", "-p: '1,' is not a PID or a list like 42,1042");
	CHECK_REFUSED("-p ,1", "-p: ',1' is not a PID or a list like 42,1042");
	CHECK_REFUSED("-p 1,,2", "-p: '1,,2' is not a PID or a list like 42,1042");
	CHECK_REFUSED("--pid=", "-p: '' is not a PID or a list like 42,1042");
	CHECK_REFUSED("-p -1", "-p: '-1' is not a PID or a list like 42,1042");
	CHECK_REFUSED("-p 1,2x", "-p: '1,2x' is not a PID or a list like 42,1042");
}

static void bad_numbers(void)
{
	CHECK_REFUSED("-F 0", "-F: '0' is not a whole number from 1 to 1000");
	CHECK_REFUSED("-F 1001", "-F: '1001' is not a whole number from 1 to 1000");
	CHECK_REFUSED("-F 0x10", "-F: '0x10' is not a whole number from 1 to 1000");
	CHECK_REFUSED("-F -1", "-F: '-1' is not a whole number from 1 to 1000");
	CHECK_REFUSED("-F 99999999999999999999",
		      "-F: '99999999999999999999' is not a whole number from 1 to 1000");
	CHECK_REFUSED("--frequency= 5", "-F: '' is not a whole number from 1 to 1000");
	CHECK_REFUSED("--stack-storage-size 16777217",
		      "--stack-storage-size: '16777217' is not a whole number from 1 to 16777216");
	CHECK_REFUSED("0", "duration: '0' is not a number of seconds above 0");
	CHECK_REFUSED("5w", "duration: '5w' is not a number of seconds above 0");
}

static void sizes(void)
{
	CHECK_INT(parse(""), 0);
	CHECK_INT(settings.buffer, 0);
	CHECK_INT(parse("--buffer-size 4096"), 0);
	CHECK_INT(settings.buffer, 4096);
	CHECK_INT(parse("--buffer-size=64K"), 0);
	CHECK_INT(settings.buffer, 64 << 10);
	CHECK_INT(parse("-fb16MB"), 0);
	CHECK_INT(settings.buffer, 16 << 20);
	CHECK_INT(parse("-b 1G -f"), 0);
	CHECK_INT(settings.buffer, 1 << 30);
	CHECK(settings.trace.folded);
	CHECK_REFUSED("-b 4095", "-b: '4095' is not a size from 4K to 1G, in bytes, or K, M or G");
	CHECK_REFUSED("-b 2GB", "-b: '2GB' is not a size from 4K to 1G, in bytes, or K, M or G");
	CHECK_REFUSED("-b 8KX", "-b: '8KX' is not a size from 4K to 1G, in bytes, or K, M or G");
	CHECK_REFUSED("-b M", "-b: 'M' is not a size from 4K to 1G, in bytes, or K, M or G");
	CHECK_REFUSED("-b -4K", "-b: '-4K' is not a size from 4K to 1G, in bytes, or K, M or G");
	CHECK_REFUSED("--buffer-size=",
		      "-b: '' is not a size from 4K to 1G, in bytes, or K, M or G");
	CHECK_REFUSED("-b", "-b: needs a value, SIZE");
	CHECK_REFUSED("-b 8K --buffer-size 8K", "-b: given twice");
	/* The first one stays. */
	CHECK_INT(parse("-b 8K --mode x"), -EINVAL);
	CHECK_INT(settings.buffer, 8192);
	CHECK_INT(parse("-b 8"), -EINVAL);
	CHECK_INT(settings.buffer, 0);
}

static void ends_of_sizes(void)
{
	static const struct option_spec odd[] = {
		{.name = "size",
		 .value = "SIZE",
		 .type = OPTION_SIZE,
		 .offset = offsetof(struct settings, buffer),
		 .min = 0,
		 .max = 1536,
		 .help = "how much"},
		{.name = "large",
		 .value = "SIZE",
		 .type = OPTION_SIZE,
		 .offset = offsetof(struct settings, buffer),
		 .min = 3 << 19,
		 .max = 1ULL << 42,
		 .help = "how much"},
		{0},
	};
	const struct command as = {
		.name = "odd", .summary = "Summary.", .options = odd, .examples = ""};

	CHECK_INT(parse_as(&as, "--size 1K"), 0);
	CHECK_INT(settings.buffer, 1024);
	CHECK_INT(parse_as(&as, "--size 2K"), -EINVAL);
	CHECK_STR(error.text, "--size: '2K' is not a size from 0 to 1536, in bytes, or K, M or G");
	CHECK_INT(parse_as(&as, "--large 1M"), -EINVAL);
	CHECK_STR(error.text,
		  "--large: '1M' is not a size from 1536K to 4096G, in bytes, or K, M or G");
}

static void paths(void)
{
	static const char *const good[] = {"/sys/fs/cgroup/a", ".", "a=b", "-", "--"};

	CHECK_INT(parse(""), 0);
	CHECK(!settings.cgroup);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		char line[64];

		snprintf(line, sizeof(line), "--cgroup %s -f", good[i]);
		CHECK_INT(parse(line), 0);
		CHECK_STR(settings.cgroup, good[i]);
		CHECK(settings.trace.folded);
		snprintf(line, sizeof(line), "--cgroup=%s", good[i]);
		CHECK_INT(parse(line), 0);
		CHECK_STR(settings.cgroup, good[i]);
	}
	CHECK_REFUSED("--cgroup=", "--cgroup: '' is not a path");
	CHECK_REFUSED("--cgroup  -f", "--cgroup: '' is not a path");
	CHECK_REFUSED("--cgroup", "--cgroup: needs a value, PATH");
	CHECK_REFUSED("--cgroup a --cgroup a", "--cgroup: given twice");
	CHECK_REFUSED("--cgroup=a --cgroup=", "--cgroup: given twice");
	CHECK_REFUSED("--cgr a",
		      "unknown option '--cgr' (did you mean '--cgroup' or '--cgroupmap'?)");
}

static void words_of_a_list(void)
{
	CHECK_INT(parse("--event cycles"), 0);
	CHECK_INT(settings.event, 1);
	CHECK_INT(parse("--event=cpu-clock"), 0);
	CHECK_INT(settings.event, 0);
	CHECK_INT(parse("-fecycles"), 0);
	CHECK_INT(settings.event, 1);
	CHECK_INT(parse("--mode only"), 0);
	CHECK_INT(settings.mode, 0);
	CHECK_REFUSED("--event clock", "-e: 'clock' is none of: cpu-clock, cycles");
	CHECK_REFUSED("-e cycle", "-e: 'cycle' is none of: cpu-clock, cycles");
	CHECK_REFUSED("-e cycles,", "-e: 'cycles,' is none of: cpu-clock, cycles");
	CHECK_REFUSED("-e Cycles", "-e: 'Cycles' is none of: cpu-clock, cycles");
	CHECK_REFUSED("-e 1", "-e: '1' is none of: cpu-clock, cycles");
	CHECK_REFUSED("--event=", "-e: '' is none of: cpu-clock, cycles");
	CHECK_REFUSED("--mode=x", "--mode: 'x' is none of: only");
	CHECK_REFUSED("-e", "-e: needs a value, EVENT");
	CHECK_REFUSED("-e cycles --event cycles", "-e: given twice");
	/* The first one has been stored, the faulty one not. */
	CHECK_INT(parse("-e cycles --mode x"), -EINVAL);
	CHECK_INT(settings.event, 1);
	CHECK_INT(parse("-e none"), -EINVAL);
	CHECK_INT(settings.event, 0);
}

static void missing_values(void)
{
	CHECK_REFUSED("-F", "-F: needs a value, FREQUENCY");
	CHECK_REFUSED("-fF", "-F: needs a value, FREQUENCY");
	CHECK_REFUSED("--frequency", "-F: needs a value, FREQUENCY");
	CHECK_REFUSED("5 -p", "-p: needs a value, PID[,PID...]");
	CHECK_REFUSED("--hash-storage-size", "--hash-storage-size: needs a value, N");
}

static void values_that_are_not_wanted(void)
{
	CHECK_REFUSED("--folded=yes", "-f: takes no value");
	CHECK_REFUSED("--stats=", "--stats: takes no value");
	CHECK_REFUSED("--help=x", "-h: takes no value");
}

static void given_twice(void)
{
	CHECK_REFUSED("-F 1 -F 2", "-F: given twice");
	CHECK_REFUSED("-p 1 --pid 2", "-p: given twice");
	CHECK_REFUSED("--hash-storage-size 1 --hash-storage-size=1",
		      "--hash-storage-size: given twice");
}

static void too_many_arguments(void)
{
	static const struct option_spec no_options[] = {{0}};
	const struct command plain = {
		.name = "plain", .summary = "Summary.", .options = no_options, .examples = ""};

	CHECK_REFUSED("1 2", "'2': too many arguments");
	CHECK_REFUSED("1 -f 2 3", "'2': too many arguments");
	CHECK_REFUSED("1 -- -f", "'-f': too many arguments");
	CHECK_INT(parse_as(&plain, ""), 0);
	CHECK_INT(parse_as(&plain, "1"), -EINVAL);
	CHECK_STR(error.text, "'1': too many arguments");
}

/* An applet that can run a command, and whose argument is how long. */
static const struct option_spec timed_options[] = {
	TRACE_OPTION_ROWS(struct settings, DELIMITED_HELP, VERBOSE_HELP),
	{.letter = 'L',
	 .name = "tid",
	 .value = "TID[,TID...]",
	 .type = OPTION_PIDS,
	 .offset = offsetof(struct settings, trace.tids),
	 .help = "only these threads"},
	{.value = "duration",
	 .type = OPTION_SECONDS,
	 .offset = offsetof(struct settings, trace.duration),
	 .bare_offset = offsetof(struct settings, trace.bare_duration),
	 .help = "how long to sample"},
	{0},
};

static const struct command timed = {.name = "timed",
				     .summary = "Summary.",
				     .options = timed_options,
				     .examples = "",
				     .run_offset = offsetof(struct settings, trace.command)};

#define CHECK_TIMED(line, message)                                                                 \
	(CHECK_INT(parse_as(&timed, line), -EINVAL), CHECK_STR(error.text, message))

static void pids_side_by_side(void)
{
	CHECK_TIMED("-p 1 2 5", "'5': too many arguments; more PIDs are given as -p 1,2");
	CHECK_TIMED("1 -p 7,8 x 2", "'x': too many arguments; more PIDs are given as -p 7,8,1");
	CHECK_TIMED("--tid 1 2 3", "'3': too many arguments; more TIDs are given as -L 1,2");
	/* No number, and no list. */
	CHECK_TIMED("-p 1 5s x", "'x': too many arguments; to run a command, put -- before it");
	CHECK_TIMED("1 2", "'2': too many arguments; to run a command, put -- before it");
	CHECK_REFUSED("-p 1 2 5", "'5': too many arguments; more PIDs are given as -p 1,2");
}

static void commands_in_place_of_durations(void)
{
	static const char *const commands[] = {"sleep", "make", "./run", "..", "sleep 1"};

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		char word[16], message[128];

		snprintf(word, sizeof(word), "%.*s", (int)strcspn(commands[i], " "), commands[i]);
		snprintf(message, sizeof(message),
			 "duration: '%s' is not a number of seconds above 0; to run a command, put "
			 "-- before it",
			 word);
		CHECK_TIMED(commands[i], message);
	}
	CHECK_TIMED("5w", "duration: '5w' is not a number of seconds above 0");
	CHECK_TIMED(".5", "duration: '.5' is not a number of seconds above 0");
	CHECK_TIMED("+5", "duration: '+5' is not a number of seconds above 0");
	/* An applet that runs none. */
	CHECK_REFUSED("sleep", "duration: 'sleep' is not a number of seconds above 0");
}

static void durations_with_units(void)
{
	static const char *const good[] = {"86400", "25h", "90000s", "2d", "90000.0"};
	char line[64], message[256];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		snprintf(line, sizeof(line), "-p 1 %s", good[i]);
		CHECK_INT(parse_as(&timed, line), 0);
		CHECK_INT(trace_options__check_duration(&settings.trace, &error), 0);
	}
	CHECK_INT(parse_as(&timed, "90000"), 0);
	CHECK_INT(trace_options__check_duration(&settings.trace, &error), 0);
	CHECK_INT(parse_as(&timed, "--tid 1 90000"), 0);
	CHECK_INT(trace_options__check_duration(&settings.trace, &error), -EINVAL);
	CHECK_STR(error.text, "'90000' would be how many seconds the trace takes; more threads are "
			      "given as -L 1,90000, and the duration as 90000s");
	/* Of the same program, for this is it. */
	snprintf(line, sizeof(line), "-p %d %d", getpid(), getpid());
	snprintf(message, sizeof(message),
		 "'%d' would be how many seconds the trace takes; more processes are given as -p "
		 "%d,%d, and the duration as %ds",
		 getpid(), getpid(), getpid(), getpid());
	CHECK_INT(parse_as(&timed, line), 0);
	CHECK_INT(trace_options__check_duration(&settings.trace, &error), -EINVAL);
	CHECK_STR(error.text, message);
	CHECK_INT(parse_as(&timed, strcat(line, "s")), 0);
	CHECK_INT(trace_options__check_duration(&settings.trace, &error), 0);
}

static void unknown_options(void)
{
	CHECK_REFUSED("-x", "unknown option '-x'");
	CHECK_REFUSED("-fx", "unknown option '-x'");
	CHECK_REFUSED("-xf", "unknown option '-x'");
	CHECK_REFUSED("-:", "unknown option '-:'");
	CHECK_REFUSED("-?", "unknown option '-?'");
	CHECK_REFUSED("5 --nonsense", "unknown option '--nonsense'");
	CHECK_REFUSED("--nonsense=5", "unknown option '--nonsense=5'");
	CHECK_REFUSED("--=", "unknown option '--='");
}

static void long_options_are_spelled_out(void)
{
	CHECK_REFUSED("--fol", "unknown option '--fol' (did you mean '--folded'?)");
	CHECK_REFUSED("--f", "unknown option '--f'");
	CHECK_REFUSED("--freq 5", "unknown option '--freq' (did you mean '--frequency'?)");
	CHECK_REFUSED("--freq=5", "unknown option '--freq=5' (did you mean '--frequency'?)");
	CHECK_REFUSED("--hel", "unknown option '--hel' (did you mean '--help'?)");
}

static void near_options(void)
{
	CHECK_REFUSED("--frequncy 5", "unknown option '--frequncy' (did you mean '--frequency'?)");
	CHECK_REFUSED("--offest", "unknown option '--offest' (did you mean '--offset'?)");
	CHECK_REFUSED("--Quiet", "unknown option '--Quiet' (did you mean '--quiet'?)");
	CHECK_REFUSED("--unwind-memry=1M",
		      "unknown option '--unwind-memry=1M' (did you mean '--unwind-memory'?)");
	/* Too short to be near to anything. */
	CHECK_REFUSED("--p", "unknown option '--p'");
}

static void shortened_options_in_other_errors(void)
{
	CHECK_REFUSED("--freq", "unknown option '--freq' (did you mean '--frequency'?)");
	CHECK_REFUSED("--fol=yes", "unknown option '--fol=yes' (did you mean '--folded'?)");
}

static void options_that_are_no_ascii(void)
{
	/* A letter is a byte here; message() prints half a character as '?'. */
	CHECK_REFUSED("-f\xff", "unknown option '-\xff'");
	CHECK_REFUSED("-\xc3\xa9", "unknown option '-\xc3'");
	CHECK_REFUSED("5 -\xc3\xa9", "unknown option '-\xc3'");
}

/* The error has fewer bytes than that, but its end. */
static bool error_is(size_t bytes, const char *end)
{
	size_t length = strlen(error.text);

	return length < bytes && length > strlen(end) &&
	       !strcmp(error.text + length - strlen(end), end);
}

static void long_words_are_cut(void)
{
	char line[1001];

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	memcpy(line, "--", 2);
	CHECK_INT(parse(line), -EINVAL);
	CHECK(error_is(300, "x'"));
	memcpy(line, "-F", 2);
	CHECK_INT(parse(line), -EINVAL);
	CHECK(error_is(300, "is not a whole number from 1 to 1000"));
	memcpy(line, "-e", 2);
	CHECK_INT(parse(line), -EINVAL);
	CHECK(error_is(400, "is none of: cpu-clock, cycles"));
	memcpy(line, "-b", 2);
	CHECK_INT(parse(line), -EINVAL);
	CHECK(error_is(400, ", in bytes, or K, M or G"));
	memcpy(line, "xx", 2);
	CHECK_INT(parse(line), -EINVAL);
	CHECK(error_is(300, "is not a number of seconds above 0"));
}

static void no_words_at_all(void)
{
	char *argv[] = {NULL};

	CHECK_INT(options__parse(&command, 0, argv, &settings, &error), 0);
}

static void opposites(void)
{
	CHECK_INT(parse("-K"), 0);
	CHECK_INT(trace_options__check(&settings.trace, "leave both out", &error), 0);
	CHECK_INT(parse("-UK"), 0);
	CHECK_INT(trace_options__check(&settings.trace, "leave both out", &error), -EINVAL);
	CHECK_STR(error.text, "-K and -U exclude each other: leave both out for all stacks");
}

/* The printed help, to be freed. */
static char *print_help(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	options__print_help(&command, out);
	fclose(out);
	return text;
}

static void help_fits_a_terminal(void)
{
	CLEANUP_FREE char *text = print_help();

	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		tap_check(end - line <= 80, __FILE__, __LINE__, "%td columns: %.*s", end - line,
			  (int)(end - line), line);
		tap_check(end == line || end[-1] != ' ', __FILE__, __LINE__, "space at end: '%.*s'",
			  (int)(end - line), line);
	}
}

static void help_names_all(void)
{
	CLEANUP_FREE char *text = print_help();

	CHECK(!strncmp(text, "usage: applet [-h] [-F FREQUENCY] ", 33));
	for (const struct option_spec *spec = options; spec->help; spec++) {
		char row[96];

		if (spec->name && spec->letter)
			snprintf(row, sizeof(row), "\n  -%c, --%s%s%s ", spec->letter, spec->name,
				 spec->value ? " " : "", spec->value ? spec->value : "");
		else
			snprintf(row, sizeof(row), "%s%s", spec->name ? "\n      --" : "\n  ",
				 spec->name ? spec->name : spec->value);
		tap_check(strstr(text, row), __FILE__, __LINE__, "no '%s' in help", row + 1);
	}
	CHECK(strstr(text, "\nexamples:\n  applet 5    # five seconds\n"));
}

/* From the first of part on; "" if there is none. */
static const char *find(const char *text, const char *part)
{
	const char *found = strstr(text, part);

	tap_check(found, __FILE__, __LINE__, "no '%s' there", part);
	return found ? found : "";
}

static void help_is_grouped(void)
{
	static const struct option_spec one[] = {
		{.name = "one", .type = OPTION_FLAG, .help = "an option"}, {0}};
	const struct command plain = {
		.name = "plain", .summary = "Summary.", .options = one, .examples = ""};
	CLEANUP_FREE char *text = print_help();
	CLEANUP_FREE char *rows = NULL;
	const char *at = find(text, "\n\nwhat is traced:\n  -p, --pid ");
	size_t size;
	FILE *out;

	at = find(at, "\n\nhow long:\n      --linger ");
	at = find(at, "\n\nwhat is shown:\n  -U, ");
	at = find(at, "\n\nwhere it goes:\n  -f, --folded ");
	at = find(at, "\n\nlimits:\n      --stack-storage-size N ");
	at = find(at, "\n\nother options:\n  -h, --help ");
	/* Rows without a group are there, in the order of the table. */
	at = find(at, "\n  -F, --frequency ");
	find(at, "\n  -q, --quiet ");
	out = open_memstream(&rows, &size);
	options__print_options(&plain, out);
	fclose(out);
	CHECK_STR(rows, "options:\n  -h, --help                  show this help and exit\n"
			"      --one                   an option\n");
}

static void rows_are_iterated(void)
{
	static const struct option_spec no_options[] = {{0}};
	const struct command plain = {
		.name = "plain", .summary = "Summary.", .options = no_options, .examples = ""};
	const struct option_spec *next = options;
	size_t nr = 0;

	options__for_each(spec, &command) {
		if (nr++ == 0)
			CHECK_STR(spec->name, "help");
		else
			CHECK(spec == next++);
	}
	CHECK_INT(nr, ARRAY_SIZE(options)); /* -h, and no last one */
	CHECK_STR(options__next(&plain, NULL)->name, "help");
	CHECK(!options__next(&plain, options__next(&plain, NULL)));
}

static const struct tap_test tests[] = {
	{"an empty command line leaves the defaults", defaults_stay},
	{"options in all their forms, before and behind the argument", all_forms},
	{"flags may be repeated", flags_may_be_repeated},
	{"-- ends the options", double_dash_ends_options},
	{"help wins over what follows it", help_wins_over_what_follows},
	{"lists of PIDs", lists_of_pids},
	{"numbers out of range, and what is no number, are refused", bad_numbers},
	{"sizes with and without units, and what is none", sizes},
	{"the ends of a range of sizes, in messages", ends_of_sizes},
	{"paths are any words that are not empty", paths},
	{"words of a list, and what is none of them", words_of_a_list},
	{"an option without its value is refused", missing_values},
	{"a flag with a value is refused", values_that_are_not_wanted},
	{"a value given twice is refused", given_twice},
	{"arguments too many are refused", too_many_arguments},
	{"PIDs side by side are no list", pids_side_by_side},
	{"a command needs -- before it", commands_in_place_of_durations},
	{"a duration that could be a PID is none, unless it has a unit", durations_with_units},
	{"unknown options are named", unknown_options},
	{"options that may have been meant are named", near_options},
	{"long options are not shortened", long_options_are_spelled_out},
	{"a shortened option is unknown, whatever else is wrong with it",
	 shortened_options_in_other_errors},
	{"an option that is no ASCII is named by its first byte", options_that_are_no_ascii},
	{"messages about long words are cut, not their hints", long_words_are_cut},
	{"no words at all, not even a name", no_words_at_all},
	{"-K and -U exclude each other", opposites},
	{"help fits into 80 columns", help_fits_a_terminal},
	{"help names all options", help_names_all},
	{"help is printed in groups, where there are some", help_is_grouped},
	{"iteration begins with -h and ends with the last row", rows_are_iterated},
};

int main(void)
{
	int status = TAP_RUN(tests);

	release();
	return status;
}
