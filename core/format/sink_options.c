// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/sink_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/format/report_name.h"
#include "core/format/sink.h"
#include "core/options/trace_options.h"
#include "sym/util/error.h"

const char *const label_names[] = {[LABELS_COMM_CONTAINER] = "comm,container",
				   [LABELS_COMM] = "comm",
				   [LABELS_CONTAINER] = "container",
				   [LABELS_NONE] = "none",
				   NULL};

size_t sink_options__nr(const struct sink_options *options)
{
	return options->paths.nr ? options->paths.nr : 1;
}

const char *sink_options__path(const struct sink_options *options, size_t i)
{
	return i < options->paths.nr ? options->paths.paths[i] : NULL;
}

bool sink_options__have_stdout(const struct sink_options *options)
{
	for (size_t i = 0; i < sink_options__nr(options); i++)
		if (sink__is_stdout(sink_options__path(options, i)))
			return true;
	return false;
}

/* NR_FORMATS: nothing says which. */
static size_t find_format(const struct sink_options *options, const struct trace_options *trace,
			  size_t i)
{
	const char *path = sink_options__path(options, i);

	if (options->format != FORMAT_NOT_GIVEN)
		return options->format;
	if (trace->folded)
		return FORMAT_folded;
	return sink__is_stdout(path) ? FORMAT_text : format__of_path(path);
}

enum format_number sink_options__format(const struct sink_options *options,
					const struct trace_options *trace, size_t i)
{
	return (enum format_number)find_format(options, trace, i);
}

bool sink_options__have_format(const struct sink_options *options,
			       const struct trace_options *trace, enum format_number format)
{
	for (size_t i = 0; i < sink_options__nr(options); i++)
		if (sink_options__format(options, trace, i) == format)
			return true;
	return false;
}

/* ---- the command line ---- */

static int unknown_suffix(const char *path, struct error *error)
{
	char list[256] = "";

	for (size_t i = 0; i < NR_FORMATS; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
			 formats[i]->suffix);
	return error__set(error, -EINVAL,
			  "-o: the end of '%.200s' says no format (%s); give --format", path, list);
}

static int check_path(const struct sink_options *options, const char *path, bool has_intervals,
		      struct error *error)
{
	const char *slash = strrchr(path, '/'), *sign = strchr(path, '%');
	bool has_number, has_time;

	if (!report_name__check(path, &has_number, &has_time))
		return error__set(error, -EINVAL,
				  "-o: '%.200s': behind %% only n (number), t (time) and %% have a "
				  "meaning",
				  path);
	if (has_intervals && !has_number && !has_time)
		return error__set(error, -EINVAL,
				  "-o: '%.200s': with -i each interval is a file of its own, so "
				  "the name needs %%n (number) or %%t (time)",
				  path);
	if (options->spool_max && !has_number && !has_time)
		return error__set(error, -EINVAL,
				  "--spool-max: '%.200s' is one file; its name needs %%n (number) "
				  "or %%t (time)",
				  path);
	if (options->spool_max && sign && slash && sign < slash)
		return error__set(error, -EINVAL,
				  "--spool-max: '%.200s': all reports are in one folder, whose "
				  "name has no %%",
				  path);
	return 0;
}

static int check_stdout(const struct sink_options *options, const struct trace_options *trace,
			const struct format *format, struct error *error)
{
	bool runs_command = trace->command && !options->paths.nr;

	if (trace->interval && format->whole)
		return error__set(error, -EINVAL,
				  "-i and --format %s: each interval is a file of its own; give -o "
				  "FILE, with %%n or %%t in its name",
				  format->name);
	if (format->binary && isatty(runs_command ? STDERR_FILENO : STDOUT_FILENO))
		return error__set(error, -EINVAL,
				  "--format %s: it is not for a terminal; give -o FILE",
				  format->name);
	return 0;
}

static int check_output(const struct sink_options *options, const struct trace_options *trace,
			size_t i, struct error *error)
{
	size_t format = find_format(options, trace, i);
	const char *path = sink_options__path(options, i);

	if (format == NR_FORMATS)
		return unknown_suffix(path, error);
	for (size_t before = 0; before < i; before++)
		if (!strcmp(sink_options__path(options, before), path))
			return error__set(error, -EINVAL, "-o: '%.200s' is given twice", path);
	return sink__is_stdout(path) ? check_stdout(options, trace, formats[format], error) :
				       check_path(options, path, trace->interval, error);
}

int sink_options__check(const struct sink_options *options, const struct trace_options *trace,
			struct error *error)
{
	size_t first = find_format(options, trace, 0);
	int err = 0;

	if (trace->folded && first != FORMAT_folded)
		return error__set(error, -EINVAL, "-f and --format %s exclude each other",
				  format_names[first]);
	if (options->spool_max && !options->paths.nr)
		return error__set(error, -EINVAL, "--spool-max is for -o FILE");
	for (size_t i = 0; i < sink_options__nr(options) && !err; i++)
		err = check_output(options, trace, i, error);
	if (!err && trace->shares && !sink_options__have_format(options, trace, FORMAT_text))
		return error__set(error, -EINVAL, "--shares is for text");
	if (!err && trace->containers && !sink_options__have_format(options, trace, FORMAT_text))
		return error__set(error, -EINVAL,
				  "--show-containers is for text; json and pprof always have them");
	if (!err && options->merge && !sink_options__have_format(options, trace, FORMAT_speedscope))
		return error__set(error, -EINVAL, "--merge is for --format speedscope alone");
	if (!err && (options->labels || options->max_samples) &&
	    !sink_options__have_format(options, trace, FORMAT_pprof))
		return error__set(error, -EINVAL, "%s is for --format pprof alone",
				  options->labels ? "--labels" : "--max-samples");
	return err;
}
