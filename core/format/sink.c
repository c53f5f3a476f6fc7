// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/options/trace_options.h"
#include "core/report/output.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"

static bool is_stdout(const char *path)
{
	return !path || !strcmp(path, "-");
}

bool sink_options__is_stdout(const struct sink_options *options)
{
	return is_stdout(options->path);
}

/* NR_FORMATS: nothing says which. */
static size_t find_format(const struct sink_options *options, const struct trace_options *trace)
{
	if (options->format != FORMAT_NOT_GIVEN)
		return options->format;
	if (trace->folded)
		return FORMAT_folded;
	return sink_options__is_stdout(options) ? FORMAT_text : format__of_path(options->path);
}

enum format_number sink_options__format(const struct sink_options *options,
					const struct trace_options *trace)
{
	return (enum format_number)find_format(options, trace);
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

/* Each '%' begins %n, %t or %%. */
static bool is_pattern(const char *path, bool *has_number)
{
	*has_number = false;
	for (const char *at = path; (at = strchr(at, '%')); at += 2) {
		if (!at[1] || !strchr("nt%", at[1]))
			return false;
		*has_number |= at[1] == 'n';
	}
	return true;
}

static int check_path(const char *path, bool has_intervals, struct error *error)
{
	bool has_number;

	if (!is_pattern(path, &has_number))
		return error__set(error, -EINVAL,
				  "-o: '%.200s': behind %% only n (number), t (time) and %% have a "
				  "meaning",
				  path);
	/* Times repeat: the last report can be of the second of the one before. */
	if (has_intervals && !has_number)
		return error__set(error, -EINVAL,
				  "-o: '%.200s': with -i each interval is a file of its own, so "
				  "the name needs %%n (number)",
				  path);
	return 0;
}

int sink_options__check(const struct sink_options *options, const struct trace_options *trace,
			struct error *error)
{
	size_t format = find_format(options, trace);

	if (trace->folded && format != FORMAT_folded)
		return error__set(error, -EINVAL, "-f and --format %s exclude each other",
				  format_names[format]);
	if (options->merge && format != FORMAT_speedscope)
		return error__set(error, -EINVAL, "--merge is for --format speedscope alone");
	if (format == NR_FORMATS)
		return unknown_suffix(options->path, error);
	if (sink_options__is_stdout(options) && trace->interval && formats[format]->whole)
		return error__set(error, -EINVAL,
				  "-i and --format %s: each interval is a file of its own; give -o "
				  "FILE, with %%n in its name",
				  format_names[format]);
	if (sink_options__is_stdout(options) && formats[format]->binary &&
	    isatty(trace->command && !options->path ? STDERR_FILENO : STDOUT_FILENO))
		return error__set(error, -EINVAL,
				  "--format %s: it is not for a terminal; give -o FILE",
				  format_names[format]);
	return sink_options__is_stdout(options) ? 0 :
						  check_path(options->path, trace->interval, error);
}

/* ---- writing ---- */

/* The name of a report, allocated; NULL: out of memory. */
static char *expand(const char *pattern, uint64_t number, time_t now)
{
	char time[32] = "", *name = NULL;
	size_t size;
	FILE *stream = open_memstream(&name, &size);

	if (!stream)
		return NULL;
	strftime(time, sizeof(time), "%Y%m%d-%H%M%S", localtime(&now));
	for (; *pattern; pattern++) {
		if (*pattern != '%')
			fputc(*pattern, stream);
		else if (*++pattern == 'n')
			fprintf(stream, "%" PRIu64, number);
		else
			fputs(*pattern == 't' ? time : "%", stream);
	}
	if (fclose(stream)) {
		free(name);
		return NULL;
	}
	return name;
}

static int fail(const char *path, struct error *error)
{
	int code = -errno;

	return error__set(error, code, "cannot write '%.200s': %s", path, strerror(-code));
}

/*
 * The name itself, not what a link leads to. All zero: nothing is there, or nothing is known of it;
 * errno says which.
 */
static struct stat look_at(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? (struct stat){0} : st;
}

/*
 * A pipe, a device or a link, which stays what it is: to put a file in place of /dev/stdout would
 * break the machine.
 */
static bool is_special(const struct stat *st)
{
	return st->st_mode && !S_ISREG(st->st_mode);
}

/*
 * To follow a link of somebody else could write over any file of ours: refused, as the kernel does
 * in folders like /tmp (fs.protected_symlinks). errno is set then.
 */
static bool may_write(const struct stat *st)
{
	if (!S_ISLNK(st->st_mode) || st->st_uid == 0 || st->st_uid == geteuid())
		return true;
	errno = EACCES;
	return false;
}

bool sink__shares_stdout(const char *path)
{
	struct stat st, out;

	if (is_stdout(path))
		return true;
	return !stat(path, &st) && !fstat(STDOUT_FILENO, &out) && st.st_dev == out.st_dev &&
	       st.st_ino == out.st_ino;
}

/* The bits of the group are then the most that anybody whom the list names may do. */
static bool has_access_list(const char *path)
{
	return lgetxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

/*
 * Let a file, new and of nobody but us, replace the one at path, of st: it has the mode and the
 * group of an own one, but no access list, and of somebody else's no bit that it had not. Returns
 * 0, or -1 with errno set.
 */
static int take_mode(int fd, const char *path, const struct stat *st)
{
	mode_t mask = umask(0), mode = 0666 & ~mask;

	umask(mask);
	if (S_ISREG(st->st_mode) && st->st_uid == geteuid())
		mode = st->st_mode & (fchown(fd, (uid_t)-1, st->st_gid) ? 0707 : 0777);
	else if (S_ISREG(st->st_mode))
		mode &= st->st_mode;
	if (has_access_list(path))
		mode &= (mode_t)~0070;
	return fchmod(fd, mode);
}

/* The length of the folders in a path, with the last slash. */
static int folders_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash + 1 - path) : 0;
}

/*
 * A new file beside path, so that rename() can put it in its place. Its name, of any length that
 * path may have, is allocated. Returns a descriptor or -1 with errno set.
 */
static int make_temporary(const char *path, char **name)
{
	int fd;

	if (asprintf(name, "%.*s.tracekit-XXXXXX", folders_length(path), path) < 0) {
		*name = NULL;
		errno = ENOMEM;
		return -1;
	}
	fd = mkstemp(*name);
	if (fd < 0) {
		free(*name);
		*name = NULL;
	}
	return fd;
}

/* Try it: a folder can be full of reasons why no file can be made in it. */
static int check_folder(const char *path, struct error *error)
{
	CLEANUP_FREE char *name = NULL;
	CLEANUP_CLOSE int fd = make_temporary(path, &name);

	if (fd < 0)
		return fail(path, error);
	unlink(name);
	return 0;
}

int sink_options__check_place(const struct sink_options *options, struct error *error)
{
	CLEANUP_FREE char *path = NULL;
	struct stat st, led_to;

	if (sink_options__is_stdout(options))
		return 0;
	path = expand(options->path, 1, time(NULL));
	if (!path)
		return error__set(error, -ENOMEM, "cannot write the output: out of memory");
	if (stat(path, &led_to) == 0 && S_ISDIR(led_to.st_mode)) {
		errno = EISDIR;
		return fail(path, error);
	}
	st = look_at(path);
	/* Its name can be too long. */
	if (!st.st_mode && errno != ENOENT)
		return fail(path, error);
	if (is_special(&st))
		return !may_write(&st) || access(path, W_OK) ? fail(path, error) : 0;
	return check_folder(path, error);
}

/* fd is the stream's to close, or closed. */
static int write_to(struct sink *sink, int fd, struct error *error)
{
	int err;

	sink->out = fdopen(fd, "w");
	if (sink->out)
		return 0;
	err = fail(sink->path, error);
	close(fd);
	return err;
}

static int open_temporary(struct sink *sink, const struct stat *st, struct error *error)
{
	CLEANUP_CLOSE int fd = make_temporary(sink->path, &sink->temporary);

	if (fd < 0 || take_mode(fd, sink->path, st))
		return fail(sink->path, error);
	return write_to(sink, TAKE_FD(fd), error);
}

/* Nothing is created through a link that leads nowhere. */
static int open_special(struct sink *sink, const struct stat *st, struct error *error)
{
	/* What was no link a moment ago is none. */
	int flags = O_WRONLY | O_TRUNC | O_CLOEXEC | (S_ISLNK(st->st_mode) ? 0 : O_NOFOLLOW);
	int fd = may_write(st) ? open(sink->path, flags) : -1;

	return fd < 0 ? fail(sink->path, error) : write_to(sink, fd, error);
}

int sink__open(struct sink *sink, const char *path, struct error *error)
{
	struct stat st;

	if (is_stdout(path)) {
		sink->out = stdout;
		return 0;
	}
	sink->path = strdup(path);
	if (!sink->path)
		return error__set(error, -ENOMEM, "cannot write the output: out of memory");
	st = look_at(path);
	if (!is_special(&st))
		return open_temporary(sink, &st, error);
	/* To open it anew would write over what stdout has. */
	if (may_write(&st) && sink__shares_stdout(path)) {
		sink->out = stdout;
		return 0;
	}
	return open_special(sink, &st, error);
}

int sink__open_report(struct sink *sink, const struct sink_options *options, uint64_t number,
		      time_t now, struct error *error)
{
	CLEANUP_FREE char *path = NULL;

	if (sink_options__is_stdout(options))
		return sink__open(sink, NULL, error);
	path = expand(options->path, number, now);
	if (!path)
		return error__set(error, -ENOMEM, "cannot write the output: out of memory");
	return sink__open(sink, path, error);
}

/* All that has been written is in the file, and on the disk. */
static int complete(struct sink *sink, struct error *error)
{
	int err = output__flush(sink->out);

	if (!err && sink->temporary && fsync(fileno(sink->out)))
		err = -errno;
	if (fclose(sink->out) && !err)
		err = -errno;
	sink->out = NULL;
	errno = -err;
	return err ? fail(sink->path, error) : 0;
}

/* A mount point, or somebody else's file in a folder like /tmp: the result is not lost for that. */
static int keep_temporary(struct sink *sink, struct error *error)
{
	CLEANUP_FREE char *name = sink->temporary;
	int code = -errno;

	sink->temporary = NULL;
	return error__set(error, code, "cannot write '%.200s': %s; the result is in '%.200s'",
			  sink->path, strerror(-code), name);
}

int sink__finish(struct sink *sink, struct error *error)
{
	int err;

	if (sink->out == stdout)
		return output__finish(stdout, error);
	err = complete(sink, error);
	if (err || !sink->temporary)
		return err;
	if (rename(sink->temporary, sink->path))
		return keep_temporary(sink, error);
	free(sink->temporary);
	sink->temporary = NULL;
	return 0;
}

void sink__release(struct sink *sink)
{
	if (sink->out && sink->out != stdout)
		fclose(sink->out);
	if (sink->temporary)
		unlink(sink->temporary);
	free(sink->temporary);
	free(sink->path);
}
