// SPDX-License-Identifier: GPL-2.0-or-later
/* flamegraph: folded stacks of any tool as a picture, or the difference of two runs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "applets/applet.h"
#include "core/flame/flame_functions.h"
#include "core/flame/flame_page.h"
#include "core/flame/flame_picture.h"
#include "core/flame/flame_tree.h"
#include "core/flame/folded_lines.h"
#include "core/format/format.h"
#include "core/format/sink.h"
#include "core/options/options.h"
#include "core/report/output.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/message.h"

struct flamegraph_settings {
	const char *output;
	const char *before;
	const char *title;
	const char *unit;
	const char *file;
	uint64_t top; /* functions to print; 0: not given */
	bool normalize;
};

/* Bytes, so that files stay as small as promised. */
#define TITLE_MAX 1000

static const struct flamegraph_settings defaults = {.unit = "samples"};

#define OFFSET(field) offsetof(struct flamegraph_settings, field)
/* clang-format off */
static const struct option_spec options[] = {
	{.letter = 'o', .name = "output", .value = "OUT", .type = OPTION_PATH,
	 .offset = OFFSET(output),
	 .help = "write to OUT: .svg is a picture, .html a page with a table of functions beside "
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
	 .help = "what is counted (default samples)"},
	{.value = "FILE", .type = OPTION_PATH,
	 .offset = OFFSET(file),
	 .help = "folded stacks: lines of frames with ; between them, from the root, and a number; "
		 "- is stdin, which is the default"},
	{0},
};
/* clang-format on */

static bool is_stdin(const char *path)
{
	return !path || !strcmp(path, "-");
}

static bool is_page(const char *output)
{
	return output && format__of_path(output) == FORMAT_html;
}

static int check(const void *argument, struct error *error)
{
	const struct flamegraph_settings *settings = argument;
	const char *output = settings->output;

	if (output && strcmp(output, "-") && !is_page(output) &&
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
	return 0;
}

static const char *name_of(const char *path)
{
	return is_stdin(path) ? "stdin" : path;
}

/* Say what was not understood. Returns 0, or -EINVAL if stacks may be missing. */
static int say_what_was_wrong(const struct folded_lines *lines, const char *name)
{
	for (uint64_t i = 0; i < lines->bad && i < FOLDED_BAD_MAX; i++)
		message("%s:%" PRIu64 ": %s", name, lines->first_bad[i].number,
			lines->first_bad[i].reason);
	if (lines->bad > FOLDED_BAD_MAX)
		message("%s: %" PRIu64 " more lines are no stacks", name,
			lines->bad - FOLDED_BAD_MAX);
	if (lines->rounded)
		message("%s: %" PRIu64 " counts have a fraction, and were rounded", name,
			lines->rounded);
	return lines->bad ? -EINVAL : 0;
}

/* *damaged: some of its lines are no stacks. Returns 0 or a negative errno with error filled. */
static int read_file(const char *path, struct flame_tree *tree, bool before, bool *damaged,
		     struct error *error)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	struct folded_lines lines = {0};
	int err = 0;

	if (!is_stdin(path)) {
		file = fopen(path, "re");
		if (!file)
			return error__set(error, -errno, "cannot read '%.200s': %s", path,
					  strerror(errno));
	}
	err = folded_lines__read(&lines, file ? file : stdin, tree, before);
	if (err)
		return error__set(error, err, "cannot read '%.200s': %s", name_of(path),
				  strerror(-err));
	if (say_what_was_wrong(&lines, name_of(path)))
		*damaged = true;
	if (lines.refused)
		return error__set(error, -EINVAL, "'%.200s' %s", name_of(path), lines.refused);
	if (lines.stacks == 0)
		return error__set(error, -EINVAL, "there are no stacks in '%.200s'", name_of(path));
	return 0;
}

static double scale_of(const struct flamegraph_settings *settings, const struct flame_tree *tree)
{
	const struct flame_node *all = &tree->nodes[0];

	if (!settings->before)
		return 0;
	return settings->normalize && all->total && all->total_before ?
		       (double)all->total / (double)all->total_before :
		       1;
}

static void write_about(const struct flamegraph_settings *settings, const struct flame_tree *tree,
			char *text, size_t size)
{
	const struct flame_node *all = &tree->nodes[0];
	int length = snprintf(text, size, "%.200s: %" PRIu64 " %.50s", name_of(settings->file),
			      all->total, settings->unit);

	if (settings->before && (size_t)length < size)
		snprintf(text + length, size - (size_t)length,
			 "; before, %.200s: %" PRIu64 "%s; red: more, blue: less",
			 name_of(settings->before), all->total_before,
			 settings->normalize ? ", shares compared" : "");
}

static int write_picture(const char *output, const struct flame_picture *picture,
			 struct error *error)
{
	CLEANUP(sink__release) struct sink sink = {0};
	int err = sink__open(&sink, output, error);

	if (err)
		return err;
	if ((is_page(output) ? flame_page__write : flame_picture__write)(sink.out, picture))
		return error__set(error, -ENOMEM, "cannot write the output: out of memory");
	return sink__finish(&sink, error);
}

static int print_top(uint64_t nr, const struct flame_picture *picture, struct error *error)
{
	CLEANUP(flame_functions__release) struct flame_functions functions = {0};

	if (flame_functions__count(&functions, picture, FLAME_BY_SELF))
		return error__set(error, -ENOMEM, "cannot count functions: out of memory");
	flame_functions__print(stdout, &functions, nr, picture);
	return output__finish(stdout, error);
}

static int run(const void *argument, struct error *error)
{
	const struct flamegraph_settings *settings = argument;
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	char about[1024];
	struct flame_picture picture = {
		.tree = &tree,
		.title = settings->title ? settings->title : name_of(settings->file),
		.about = about,
		.unit = settings->unit,
	};
	bool damaged = false;
	int err = read_file(settings->file, &tree, false, &damaged, error);

	if (!err && settings->before)
		err = read_file(settings->before, &tree, true, &damaged, error);
	if (err)
		return err;
	if (!settings->before && !tree.nodes[0].total)
		return error__set(error, -EINVAL, "'%.200s' has no counts but 0",
				  name_of(settings->file));
	if (flame_tree__sort(&tree))
		return error__set(error, -ENOMEM, "cannot sort the stacks: out of memory");
	picture.scale = scale_of(settings, &tree);
	write_about(settings, &tree, about, sizeof(about));
	if (settings->output || !settings->top)
		err = write_picture(settings->output, &picture, error);
	if (!err && settings->top)
		err = print_top(settings->top, &picture, error);
	if (err || !damaged)
		return err;
	error->text[0] = '\0'; /* it has been said */
	return -EINVAL;
}

const struct applet applet_flamegraph = {
	.command =
		{
			.name = "flamegraph",
			.summary = "Draw folded stacks of any tool, or the difference of two runs.",
			.options = options,
			.examples =
				"    flamegraph -o out.svg out.folded    # a picture for a browser\n"
				"    flamegraph -o out.html out.folded   # with a table of functions beside it\n"
				"    flamegraph --diff before.folded -o diff.svg after.folded   # red has grown\n"
				"    flamegraph --diff before.folded -nt 20 after.folded   # the largest changes\n"
				"    profile -f 5 | flamegraph >out.svg  # from a pipe\n",
		},
	.defaults = &defaults,
	.settings_size = sizeof(defaults),
	.check = check,
	.run = run,
};
