// SPDX-License-Identifier: GPL-2.0-or-later
#include "applets/flamegraph_work.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/flame/flame_functions.h"
#include "core/flame/flame_page.h"
#include "core/flame/flame_picture.h"
#include "core/flame/flame_tree.h"
#include "core/format/format.h"
#include "core/format/sink.h"
#include "core/input/confined.h"
#include "core/input/filter.h"
#include "core/input/input.h"
#include "core/probe/pattern.h"
#include "core/report/output.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/message.h"

const char *flamegraph__name_of(const char *path)
{
	return !path || !strcmp(path, "-") ? "stdin" : path;
}

bool flamegraph__is_page(const struct flamegraph_settings *settings)
{
	return settings->output && format__of_path(settings->output) == FORMAT_html;
}

bool flamegraph__has_picture(const struct flamegraph_settings *settings)
{
	return settings->output || !settings->top;
}

/* What comes out of the files. */
struct flames {
	const struct flamegraph_settings *settings;
	struct flame_tree tree;
	struct pattern *focus, *ignore;
	struct stack_filter filter;
	struct reading now, before;
};

static void release(struct flames *flames)
{
	flame_tree__release(&flames->tree);
	stack_filter__release(&flames->filter);
	pattern__free(flames->focus);
	pattern__free(flames->ignore);
}

/* ---- what was read ---- */

static void say_bad(const struct reading *reading, const char *name)
{
	const char *part = reading->part ? reading->part : "line";

	for (uint64_t i = 0; i < reading->bad && i < READING_BAD_MAX; i++) {
		uint64_t number = reading->first_bad[i].number;

		if (reading->part)
			message("%s: %s %" PRIu64 ": %s", name, part, number,
				reading->first_bad[i].reason);
		else
			message("%s:%" PRIu64 ": %s", name, number, reading->first_bad[i].reason);
	}
	if (reading->bad > READING_BAD_MAX)
		message("%s: %" PRIu64 " more %ss are no stacks", name,
			reading->bad - READING_BAD_MAX, part);
	for (unsigned int i = 0; i < reading->nr_notes; i++)
		message("%s: %s", name, reading->notes[i]);
}

static const char *unit_of(const struct flames *flames, const struct reading *reading)
{
	if (flames->settings->unit)
		return flames->settings->unit;
	return reading->unit[0] ? reading->unit : "samples";
}

static void say_left_out(const struct flames *flames, const struct reading *reading,
			 const char *name, const char *option, const char *pattern, uint64_t weight)
{
	if (pattern)
		message("%s: %s '%s' leaves out %" PRIu64 " of %" PRIu64 " %s (%.2f %%)", name,
			option, pattern, weight, reading->sum, unit_of(flames, reading),
			flame_picture__percent(weight, reading->sum));
}

/* Returns 0 or a negative errno with error filled. */
static int read_file(struct flames *flames, struct reading *reading, bool before,
		     struct error *error)
{
	const struct flamegraph_settings *settings = flames->settings;
	const char *name = flamegraph__name_of(before ? settings->before : settings->file);
	int err;

	flames->filter.unfocused = flames->filter.ignored = 0;
	*reading = (struct reading){
		.tree = &flames->tree,
		.before = before,
		.sample_type = settings->sample_type,
		.filter = settings->focus || settings->ignore ? &flames->filter : NULL,
	};
	err = input__read(reading, confined__input(before));
	if (err)
		return error__set(error, err, "cannot read '%.200s': %s", name, strerror(-err));
	say_bad(reading, name);
	if (reading->refused[0])
		return error__set(error, -EINVAL, "'%.200s' %s", name, reading->refused);
	if (reading->stacks == 0)
		return error__set(error, -EINVAL, "there are no stacks in '%.200s'", name);
	say_left_out(flames, reading, name, "--focus", settings->focus, flames->filter.unfocused);
	say_left_out(flames, reading, name, "--ignore", settings->ignore, flames->filter.ignored);
	return 0;
}

static int compile(struct flames *flames, struct error *error)
{
	const struct flamegraph_settings *settings = flames->settings;
	int err = 0;

	if (settings->focus)
		err = pattern__new(&flames->focus, settings->focus, true, error);
	if (!err && settings->ignore)
		err = pattern__new(&flames->ignore, settings->ignore, true, error);
	flames->filter.focus = flames->focus;
	flames->filter.ignore = flames->ignore;
	return err;
}

/* Where both files say what they count it is the same, or shares are compared. */
static int check_units(const struct flames *flames, struct error *error)
{
	const struct flamegraph_settings *settings = flames->settings;
	const char *now = flames->now.unit, *before = flames->before.unit;

	if (settings->normalize || !now[0] || !before[0] || !strcmp(now, before))
		return 0;
	return error__set(error, -EINVAL,
			  "'%.100s' counts %s, '%.100s' counts %s: compare shares, by -n",
			  flamegraph__name_of(settings->before), before,
			  flamegraph__name_of(settings->file), now);
}

static int read_files(struct flames *flames, struct error *error)
{
	const struct flamegraph_settings *settings = flames->settings;
	int err = compile(flames, error);

	if (!err)
		err = read_file(flames, &flames->now, false, error);
	if (!err && settings->before)
		err = read_file(flames, &flames->before, true, error);
	if (err)
		return err;
	if (!settings->before && flames->now.sum == 0)
		return error__set(error, -EINVAL, "'%.200s' has no counts but 0",
				  flamegraph__name_of(settings->file));
	if (flames->tree.nr == 0)
		return error__set(error, -EINVAL, "no stacks are left");
	if (flame_tree__sort(&flames->tree))
		return error__set(error, -ENOMEM, "cannot sort the stacks: out of memory");
	return check_units(flames, error);
}

/* ---- what is made of it ---- */

static double scale_of(const struct flames *flames)
{
	const struct flame_node *all = &flames->tree.nodes[0];

	if (!flames->settings->before)
		return 0;
	return flames->settings->normalize && all->total && all->total_before ?
		       (double)all->total / (double)all->total_before :
		       1;
}

static void write_about(const struct flames *flames, char *text, size_t size)
{
	const struct flamegraph_settings *settings = flames->settings;
	const struct flame_node *all = &flames->tree.nodes[0];
	int length = snprintf(text, size, "%.200s: %" PRIu64 " %.50s",
			      flamegraph__name_of(settings->file), all->total,
			      unit_of(flames, &flames->now));

	if (settings->before && (size_t)length < size)
		snprintf(text + length, size - (size_t)length,
			 "; before, %.200s: %" PRIu64 "%s; red: more, blue: less",
			 flamegraph__name_of(settings->before), all->total_before,
			 settings->normalize ? ", shares compared" : "");
}

static int write_picture(const struct flames *flames, const struct flame_picture *picture,
			 struct error *error)
{
	CLEANUP_FCLOSE FILE *out = confined__open_result();

	if (!out || (flamegraph__is_page(flames->settings) ? flame_page__write :
							     flame_picture__write)(out, picture))
		return error__set(error, -ENOMEM, "cannot write the output: out of memory");
	return fflush(out) ?
		       error__set(error, -errno, "cannot write the output: %s", strerror(errno)) :
		       0;
}

static int print_top(uint64_t nr, const struct flame_picture *picture, struct error *error)
{
	CLEANUP(flame_functions__release) struct flame_functions functions = {0};

	if (flame_functions__count(&functions, picture, FLAME_BY_SELF))
		return error__set(error, -ENOMEM, "cannot count functions: out of memory");
	flame_functions__print(stdout, &functions, nr, picture);
	return output__finish(stdout, error);
}

int flamegraph__work(const void *argument, struct error *error)
{
	const struct flamegraph_settings *settings = argument;
	CLEANUP(release) struct flames flames = {.settings = settings};
	char about[1024];
	struct flame_picture picture = {
		.tree = &flames.tree,
		.title = settings->title ? settings->title : flamegraph__name_of(settings->file),
		.about = about,
	};
	int err;

	/* Files of different kinds know the kinds of frames more or less well. */
	flames.tree.by_name = true;
	err = read_files(&flames, error);
	if (err)
		return err;
	picture.unit = unit_of(&flames, &flames.now);
	picture.scale = scale_of(&flames);
	write_about(&flames, about, sizeof(about));
	if (flamegraph__has_picture(settings))
		err = write_picture(&flames, &picture, error);
	if (!err && settings->top)
		err = print_top(settings->top, &picture, error);
	return err ? err : flames.now.bad || flames.before.bad;
}
