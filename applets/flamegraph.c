// SPDX-License-Identifier: GPL-2.0-or-later
/* flamegraph: stacks that any tool has written as a picture, or the difference of two runs. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "applets/applet.h"
#include "applets/flamegraph_work.h"
#include "core/format/format.h"
#include "core/format/sink.h"
#include "core/input/confined.h"
#include "core/options/options.h"
#include "core/probe/pattern.h"
#include "core/report/output.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"

/* Bytes, so that files stay as small as promised. */
#define TITLE_MAX 1000

static const struct flamegraph_settings defaults = {0};

#define OFFSET(field) offsetof(struct flamegraph_settings, field)
/* clang-format off */
static const struct option_spec options[] = {
	{.letter = 'o', .name = "output", .value = "OUT", .type = OPTION_PATH,
	 .offset = OFFSET(output),
	 .help = "write to OUT, in place of what is there: .svg is a picture, .html a page with a table of functions beside "
		 "it (default: a picture, to stdout)"},
	{.name = "diff", .value = "BEFORE", .type = OPTION_PATH,
	 .offset = OFFSET(before),
	 .help = "compare with the stacks of an earlier run: the colours tell what has grown"},
	{.letter = 'n', .name = "normalize", .type = OPTION_FLAG,
	 .offset = OFFSET(normalize),
	 .help = "with --diff: compare shares, as if both runs had the same sum"},
	{.letter = 't', .name = "top", .value = "N", .type = OPTION_NUMBER,
	 .offset = OFFSET(top), .min = 1, .max = UINT32_MAX,
	 .help = "print a table of N functions instead, or besides with -o: those in which most "
		 "stacks end; of two runs those whose self count has changed most"},
	{.name = "title", .value = "TITLE", .type = OPTION_TEXT,
	 .offset = OFFSET(title), .max = TITLE_MAX,
	 .help = "what stands above the picture (default: the name of FILE)"},
	{.name = "unit", .value = "UNIT", .type = OPTION_TEXT,
	 .offset = OFFSET(unit), .max = TITLE_MAX,
	 .help = "what is counted (default: what FILE says, else samples)"},
	{.name = "focus", .value = "RE", .type = OPTION_TEXT,
	 .offset = OFFSET(focus),
	 .help = "only stacks with a frame that matches the regular expression RE"},
	{.name = "ignore", .value = "RE", .type = OPTION_TEXT,
	 .offset = OFFSET(ignore),
	 .help = "only stacks without a frame that matches the regular expression RE"},
	{.name = "sample-type", .value = "TYPE", .type = OPTION_TEXT,
	 .offset = OFFSET(sample_type),
	 .help = "of a profile of pprof that has several numbers for each stack: which one "
		 "(default: the one that it names, else the last)"},
	{.value = "FILE", .type = OPTION_PATH,
	 .offset = OFFSET(file),
	 .help = "stacks: folded lines, JSON or pprof of these applets or of other tools, or what "
		 "perf script prints; also compressed by gzip; - is stdin, which is the default"},
	{0},
};
/* clang-format on */

static bool is_stdin(const char *path)
{
	return !path || !strcmp(path, "-");
}

static int check_pattern(const char *option, const char *text, struct error *error)
{
	CLEANUP(pattern__freep) struct pattern *pattern = NULL;
	struct error why;
	int err = text ? pattern__new(&pattern, text, true, &why) : 0;

	return err ? error__set(error, err, "%s: %s", option, why.text) : 0;
}

static int check_patterns(const struct flamegraph_settings *settings, struct error *error)
{
	int err = check_pattern("--focus", settings->focus, error);

	return err ? err : check_pattern("--ignore", settings->ignore, error);
}

static int check(const void *argument, struct error *error)
{
	const struct flamegraph_settings *settings = argument;
	const char *output = settings->output;

	if (output && strcmp(output, "-") && !flamegraph__is_page(settings) &&
	    format__of_path(output) != FORMAT_svg)
		return error__set(error, -EINVAL,
				  "-o: the end of '%.200s' is neither .svg nor .html", output);
	if (output && sink__shares_stdout(output) && settings->top)
		return error__set(error, -EINVAL,
				  "-t and -o %.200s exclude each other: both are for stdout",
				  output);
	if (settings->normalize && !settings->before)
		return error__set(error, -EINVAL, "-n is for --diff alone");
	if (settings->before && is_stdin(settings->before) && is_stdin(settings->file))
		return error__set(error, -EINVAL,
				  "--diff: only one of two runs can come from stdin");
	if (!settings->file && isatty(STDIN_FILENO))
		return error__set(error, -EINVAL, "which FILE? stdin is a terminal");
	return check_patterns(settings, error);
}

/* Returns a descriptor, or a negative errno with error filled. */
static int open_file(const char *path, struct error *error)
{
	int fd = is_stdin(path) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) :
				  open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int code = -errno;

	return fd < 0 ? error__set(error, code, "cannot read '%.200s': %s",
				   flamegraph__name_of(path), strerror(-code)) :
			fd;
}

static int write_picture(const struct flamegraph_settings *settings,
			 const struct confined *confined, struct error *error)
{
	CLEANUP(sink__release) struct sink sink = {0};
	int err = sink__open(&sink, settings->output, error);

	if (err)
		return err;
	err = confined__copy(confined->result, sink.out);
	if (err)
		return error__set(error, err, "cannot write the output: %s", strerror(-err));
	return sink__finish(&sink, error);
}

static int print_table(const struct confined *confined, struct error *error)
{
	int err = confined__copy(confined->out, stdout);

	if (err)
		return error__set(error, err, "cannot write the output: %s", strerror(-err));
	return output__finish(stdout, error);
}

static int run(const void *argument, struct error *error)
{
	const struct flamegraph_settings *settings = argument;
	CLEANUP(confined__release) struct confined confined = CONFINED_NONE;
	CLEANUP_CLOSE int now = open_file(settings->file, error);
	CLEANUP_CLOSE int before = settings->before ? open_file(settings->before, error) : -1;
	const int inputs[] = {now, before};
	const struct confined_work work = {.run = flamegraph__work,
					   .argument = settings,
					   .inputs = inputs,
					   .nr_inputs = settings->before ? 2 : 1};
	int made, err = 0;

	if (now < 0 || (settings->before && before < 0))
		return -EINVAL;
	made = confined__run(&confined, &work, error);
	if (made < 0)
		return made;
	if (flamegraph__has_picture(settings))
		err = write_picture(settings, &confined, error);
	if (!err && settings->top)
		err = print_table(&confined, error);
	if (err || !made)
		return err;
	error->text[0] = '\0'; /* it has been said */
	return -EINVAL;
}

const struct applet applet_flamegraph = {
	.command =
		{
			.name = "flamegraph",
			.summary =
				"Draw stacks that any tool has written, or the difference of two runs.",
			.options = options,
			.examples =
				"    flamegraph -o out.svg out.pb.gz     # a picture for a browser\n"
				"    flamegraph -o out.html out.folded   # with a table of functions beside it\n"
				"    flamegraph -t 20 out.json           # the functions that most stacks end in\n"
				"    flamegraph --focus '^malloc$' -o out.svg out.pb.gz    # what leads to malloc\n"
				"    flamegraph --diff before.pb.gz -o diff.svg after.pb.gz   # red has grown\n"
				"    flamegraph --diff before.pb.gz -nt 20 after.pb.gz   # the largest changes\n"
				"    perf script | flamegraph >out.svg   # from a pipe\n",
		},
	.defaults = &defaults,
	.settings_size = sizeof(defaults),
	.check = check,
	.run = run,
};
