// SPDX-License-Identifier: GPL-2.0-or-later
/* Dispatch: which applet is meant, its command line, its exit status. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "applets/applet.h"
#include "applets/completion.h"
#include "applets/debug.h"
#include "applets/install.h"
#include "applets/list.h"
#include "applets/version.h"
#include "core/options/near_names.h"
#include "core/report/output.h"
#include "core/trace/workload.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/debug_log.h"
#include "sym/util/error.h"
#include "sym/util/limits.h"
#include "sym/util/message.h"

enum { EXIT_USAGE = 2, EXIT_UNKNOWN_APPLET = 127 };

/* All output is in stdout: write it out and return the exit status. */
static int finish_stdout(void)
{
	struct error error;
	int err = output__flush(stdout);

	if (!err)
		return EXIT_SUCCESS;
	output__failed(err, &error);
	if (error.text[0])
		message("%s", error.text);
	return EXIT_FAILURE;
}

static int print_help_of(const struct applet *applet)
{
	options__print_help(&applet->command, stdout);
	return finish_stdout();
}

/* As a command has ended; a script then knows that Ctrl-C has ended it, and ends, too. */
static int end_as(int status)
{
	const struct rlimit no_core = {0};

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status); /* it is blocked since before we were started */
}

/* Say what is wrong with a command line, and where the help is. The exit status. */
static int wrong_usage(const struct command *command, const char *what)
{
	message("%s; see '%s --help'", what, command->name);
	return EXIT_USAGE;
}

/* From the command line to the exit status; settings hold the defaults. */
static int run_with(const struct applet *applet, int argc, char **argv, void *settings)
{
	struct error error = {{0}};
	char hint[LIMIT_HINT_SIZE];
	int err = options__parse(&applet->command, argc, argv, settings, &error);

	if (err == OPTIONS_HELP)
		return print_help_of(applet);
	if (!err && applet->check)
		err = applet->check(settings, &error);
	if (err == -EINVAL)
		return wrong_usage(&applet->command, error.text);
	if (err) {
		message("%s", error.text);
		return EXIT_FAILURE;
	}
	err = applet->run(settings, &error);
	if (err && error.text[0])
		message("%s%s", error.text, limit__hint(err, hint));
	return err < 0 ? EXIT_FAILURE : end_as(err);
}

/* As of other programs, though they are all this one. */
static bool asks_for_version(const char *argument)
{
	return !strcmp(argument, "--version") || !strcmp(argument, "-V");
}

static int run_applet(const struct applet *applet, int argc, char **argv)
{
	CLEANUP_FREE void *settings = malloc(applet->settings_size);
	int status;

	message__set_program(applet->command.name);
	if (argc == 2 && asks_for_version(argv[1])) {
		version__print(stdout);
		return finish_stdout();
	}
	if (!settings) {
		message("cannot start: out of memory");
		return EXIT_FAILURE;
	}
	memcpy(settings, applet->defaults, applet->settings_size);
	status = run_with(applet, argc, argv, settings);
	options__release(&applet->command, settings);
	return status;
}

static const struct applet *find_applet(const char *name)
{
	for (const struct applet *const *applet = applet_list; *applet; applet++)
		if (!strcmp((*applet)->command.name, name))
			return *applet;
	return NULL;
}

static void print_applets(FILE *out)
{
	for (const struct applet *const *applet = applet_list; *applet; applet++)
		fprintf(out, "%-12s %s\n", (*applet)->command.name, (*applet)->command.summary);
}

/* Options in place of an applet: the first argument, followed by nothing but its value. */
static const struct option_spec own_options[] = {
	{.name = "list", .type = OPTION_FLAG, .help = "list the applets, one per line"},
	{.name = "install",
	 .value = "[-s] DIR",
	 .type = OPTION_PATH,
	 .help = "link the applets in DIR to this program; -s: symbolic links"},
	{.name = "completion",
	 .value = "SHELL",
	 .type = OPTION_CHOICE,
	 .choices = completion_shells,
	 .help = "print a script for SHELL (bash, zsh or fish) that lets it complete "
		 "command lines"},
	{.letter = 'V',
	 .name = "version",
	 .type = OPTION_FLAG,
	 .help = "show the versions of this program and its libraries; APPLET --version does so, "
		 "too"},
	{0},
};

static const struct command own_command = {.name = "tracekit", .options = own_options};

static void print_help(FILE *out)
{
	fputs("usage: tracekit APPLET [ARGUMENT...]\n"
	      "   or: tracekit help [APPLET]\n"
	      "   or: tracekit --list | --install [-s] DIR | --completion SHELL\n"
	      "   or: tracekit [APPLET] --version | --help\n"
	      "\n"
	      "Count, print and sample kernel and user stacks with BPF. Each applet can also be\n"
	      "called by its name, through a link to this program: tracekit --install makes them.\n"
	      "\n"
	      "applets:\n",
	      out);
	print_applets(out);
	fputc('\n', out);
	options__print_options(&own_command, out);
	fputs("\n"
	      "examples:\n"
	      "    tracekit profile -- make       # where does a command spend its time?\n"
	      "    tracekit profile 5             # where do the CPUs spend the next 5 seconds?\n"
	      "    tracekit profile -o p.svg 5    # a flame graph of it\n"
	      "    tracekit offcputime -p 185     # where does a process wait?\n"
	      "    tracekit help profile          # all options of profile\n"
	      "    tracekit --install /usr/bin    # then just: profile 5\n",
	      out);
}

static int unknown_applet(const char *name)
{
	struct near_names near = {.wanted = name};
	char hint[NEAR_NAMES_TEXT_SIZE];

	for (const struct applet *const *applet = applet_list; *applet; applet++)
		near_names__offer(&near, (*applet)->command.name);
	near_names__offer(&near, "help");
	near_names__text(&near, hint, sizeof(hint));
	options__for_each(spec, &own_command)
		if (!strcmp(spec->name, name))
			snprintf(hint, sizeof(hint), " (did you mean '--%s'?)", spec->name);
	message("'%s' is not an applet%s", name, hint);
	print_applets(stderr);
	return EXIT_UNKNOWN_APPLET;
}

static int install(int argc, char **argv)
{
	bool symbolic = argc > 1 && !strcmp(argv[1], "-s");
	struct error error;

	argc -= symbolic;
	argv += symbolic;
	if (argc != 2 || argv[1][0] == '-')
		return wrong_usage(&own_command, "--install: needs one directory");
	if (install__links(argv[1], symbolic, applet_list, &error)) {
		message("%s", error.text);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

static int print_completion(int argc, char **argv)
{
	if (argc != 2 || completion__print(argv[1], &own_command, applet_list, stdout))
		return wrong_usage(&own_command, "--completion: needs a shell: bash, zsh or fish");
	return finish_stdout();
}

/* For those who work on tracekit: in no help. */
static int debug(int argc, char **argv)
{
	struct error error = {{0}};
	int err = debug__run(argc, argv, stdout, &error);

	if (err == -EINVAL)
		return wrong_usage(&own_command, error.text);
	if (err) {
		message("%s", error.text);
		return EXIT_FAILURE;
	}
	return finish_stdout();
}

/* "tracekit help help" shows what "tracekit help" does. */
static bool is_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

static int help_applet(int argc, char **argv)
{
	const struct applet *applet;

	if (argc == 1 || (argc == 2 && is_help(argv[1]))) {
		print_help(stdout);
		return finish_stdout();
	}
	if (argc != 2)
		return wrong_usage(&own_command, "help: is for one applet at a time");
	applet = find_applet(argv[1]);
	if (!applet)
		return unknown_applet(argv[1]);
	return print_help_of(applet);
}

/* Options of the binary that only print something. */
static const struct {
	const char *option;
	void (*print)(FILE *out);
} printers[] = {
	{"--list", print_applets},     {"--help", print_help}, {"-h", print_help},
	{"--version", version__print}, {"-V", version__print},
};

/* argv[0] is the first word behind the program's own name. */
static int run_command(int argc, char **argv)
{
	const struct applet *applet = find_applet(argv[0]);
	struct error error;
	char what[128];

	if (applet)
		return run_applet(applet, argc, argv);
	if (!strcmp(argv[0], "--install"))
		return install(argc, argv);
	if (!strcmp(argv[0], "--completion"))
		return print_completion(argc, argv);
	if (!strcmp(argv[0], "help"))
		return help_applet(argc, argv);
	if (!strcmp(argv[0], "debug"))
		return debug(argc, argv);
	if (argv[0][0] != '-')
		return unknown_applet(argv[0]);
	for (size_t i = 0; i < ARRAY_SIZE(printers); i++) {
		if (strcmp(argv[0], printers[i].option))
			continue;
		if (argc > 1) {
			snprintf(what, sizeof(what), "'%.80s': too many arguments", argv[1]);
			return wrong_usage(&own_command, what);
		}
		printers[i].print(stdout);
		return finish_stdout();
	}
	options__unknown(&own_command, argv[0], &error);
	return wrong_usage(&own_command, error.text);
}

/*
 * If stdin, stdout or stderr is closed, the next file opened would take its place, and a message
 * would be written into that file. /dev/null, opened read-only, takes the place instead: writing
 * still fails.
 */
static void occupy_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Our parent can leave those blocked that are to end a trace, or any program: nobody would see
 * them. */
static void unblock_ends(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaddset(&set, ends[i]);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int main(int argc, char **argv)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argc ? argv[0] : "";
	const struct applet *applet;
	struct error error;

	occupy_standard_descriptors();
	workload__keep_signals();
	unblock_ends();
	signal(SIGPIPE, SIG_IGN); /* a reader that goes away is an error of write */
	/* Our parent can leave SIGCHLD ignored; then a child's PID would be free before we know. */
	signal(SIGCHLD, SIG_DFL);
	if (debug_log__begin(&error)) {
		message("%s", error.text);
		return EXIT_USAGE;
	}
	applet = find_applet(name);
	if (applet)
		return run_applet(applet, argc, argv);
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	return run_command(argc - 1, argv + 1);
}
