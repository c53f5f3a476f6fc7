// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/format/report_name.h"
#include "core/report/output.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/invoker.h"

bool sink__is_stdout(const char *path)
{
	return !path || !strcmp(path, "-");
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
 * in folders like /tmp (fs.protected_symlinks). So are pipes and sockets, but those of who has
 * typed the command: what is written there is read by others. errno is set then.
 */
static bool may_write(const struct stat *st)
{
	bool is_pipe = S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode);
	struct invoker invoker;

	if (st->st_uid == 0 || st->st_uid == geteuid() || (!S_ISLNK(st->st_mode) && !is_pipe))
		return true;
	if (is_pipe && invoker__find(&invoker) && st->st_uid == invoker.uid)
		return true;
	errno = EACCES;
	return false;
}

bool sink__shares_stdout(const char *path)
{
	struct stat st, out;

	if (sink__is_stdout(path))
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

#define DESCRIPTOR_NAME_SIZE 32

static void name_descriptor(int fd, char name[DESCRIPTOR_NAME_SIZE])
{
	snprintf(name, DESCRIPTOR_NAME_SIZE, "/proc/self/fd/%d", fd);
}

/*
 * A new file in the folder of path that has no name yet: it goes with the last descriptor, also if
 * we are killed. Returns a descriptor; -1: the file system cannot do that, or /proc, through which
 * it gets a name, is missing.
 */
static int make_nameless(const char *path)
{
	CLEANUP_FREE char *folder = NULL;
	CLEANUP_CLOSE int fd = -1;
	char self[DESCRIPTOR_NAME_SIZE];

	if (asprintf(&folder, "%.*s", folders_length(path), path) < 0) {
		folder = NULL;
		return -1;
	}
	fd = open(*folder ? folder : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	name_descriptor(fd, self);
	return access(self, F_OK) ? -1 : TAKE_FD(fd);
}

/* As make_nameless(), or if that cannot be as make_temporary(); *name is NULL then, or its name. */
static int make_file(const char *path, char **name)
{
	int fd = make_nameless(path);

	*name = NULL;
	return fd < 0 ? make_temporary(path, name) : fd;
}

/* Try it: a folder can be full of reasons why no file can be made in it. */
static int check_folder(const char *path, struct error *error)
{
	CLEANUP_FREE char *name = NULL;
	CLEANUP_CLOSE int fd = make_file(path, &name);

	if (fd < 0)
		return fail(path, error);
	if (name)
		unlink(name);
	return 0;
}

static int no_memory(struct error *error)
{
	return error__set(error, -ENOMEM, "cannot write the output: out of memory");
}

int sink__check_place(const char *pattern, struct error *error)
{
	CLEANUP_FREE char *path = NULL;
	struct stat st, led_to;

	if (sink__is_stdout(pattern))
		return 0;
	path = report_name__make(pattern, 1, time(NULL), 1);
	if (!path)
		return no_memory(error);
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

static int open_new(struct sink *sink, const struct stat *st, struct error *error)
{
	CLEANUP_CLOSE int fd = make_file(sink->path, &sink->temporary);

	sink->nameless = fd >= 0 && !sink->temporary;
	if (fd < 0 || take_mode(fd, sink->path, st))
		return fail(sink->path, error);
	return write_to(sink, TAKE_FD(fd), error);
}

/* Whoever is to read a pipe can come a little later. */
#define READER_WAIT_MS	10000
#define READER_PAUSE_MS 20

/* Without waiting for ever for who reads a pipe. Returns a descriptor, or -1 with errno set. */
static int open_waiting(const char *path, int flags)
{
	struct stat st;
	int fd = open(path, flags | O_NONBLOCK);

	for (int waited = 0; fd < 0 && errno == ENXIO && waited < READER_WAIT_MS;
	     waited += READER_PAUSE_MS) {
		if (stat(path, &st) || !S_ISFIFO(st.st_mode))
			break;
		poll(NULL, 0, READER_PAUSE_MS);
		fd = open(path, flags | O_NONBLOCK);
	}
	return fd;
}

/*
 * Open what is special as it was looked at in *st. Nothing is created through a link that leads
 * nowhere. Returns a descriptor, or -1 with errno set.
 */
static int open_as(const char *path, const struct stat *st)
{
	/* What was no link a moment ago is none. */
	int flags = O_WRONLY | O_TRUNC | O_CLOEXEC | (S_ISLNK(st->st_mode) ? 0 : O_NOFOLLOW);
	CLEANUP_CLOSE int fd = open_waiting(path, flags);
	struct stat now;

	if (fd < 0 || fstat(fd, &now) || fcntl(fd, F_SETFL, 0))
		return -1;
	if (!S_ISLNK(st->st_mode) && (now.st_dev != st->st_dev || now.st_ino != st->st_ino)) {
		errno = ESTALE;
		return -1;
	}
	return TAKE_FD(fd);
}

static int open_special(struct sink *sink, const struct stat *st, struct error *error)
{
	int fd = may_write(st) ? open_as(sink->path, st) : -1;

	if (fd < 0 && errno == ENXIO && S_ISFIFO(st->st_mode))
		return error__set(error, -ENXIO, "cannot write '%.200s': nobody reads it",
				  sink->path);
	return fd < 0 ? fail(sink->path, error) : write_to(sink, fd, error);
}

int sink__open(struct sink *sink, const char *path, struct error *error)
{
	struct stat st;

	if (sink__is_stdout(path)) {
		sink->out = stdout;
		return 0;
	}
	sink->path = strdup(path);
	if (!sink->path)
		return no_memory(error);
	st = look_at(path);
	if (!is_special(&st))
		return open_new(sink, &st, error);
	/* To open it anew would write over what stdout has. */
	if (may_write(&st) && sink__shares_stdout(path)) {
		sink->out = stdout;
		return 0;
	}
	return open_special(sink, &st, error);
}

/*
 * Times repeat: reports can be less than a second apart, the clock is set back, and another trace
 * writes to the same folder.
 */
#define SAME_TIME_MAX 1000

/* The name that nothing has, allocated; NULL with errno set: there is none, or no memory. */
static char *new_name(const char *pattern, uint64_t number, time_t now)
{
	for (unsigned int again = 1; again <= SAME_TIME_MAX; again++) {
		char *path = report_name__make(pattern, number, now, again);

		if (!path || !look_at(path).st_mode)
			return path;
		free(path);
	}
	errno = EEXIST;
	return NULL;
}

int sink__open_report(struct sink *sink, const char *pattern, uint64_t number, time_t now,
		      struct error *error)
{
	CLEANUP_FREE char *path = NULL;
	bool has_number, has_time;

	if (sink__is_stdout(pattern))
		return sink__open(sink, NULL, error);
	(void)report_name__check(pattern, &has_number, &has_time);
	path = has_time ? new_name(pattern, number, now) :
			  report_name__make(pattern, number, now, 1);
	if (!path)
		return errno == EEXIST ? fail(pattern, error) : no_memory(error);
	return sink__open(sink, path, error);
}

#define NAMES_MAX 100

/*
 * The file self gets a temporary name beside path, allocated in *name. Returns 0, or
 * -1 with errno set.
 */
static int link_temporary(const char *self, const char *path, char **name)
{
	for (int i = 0; i < NAMES_MAX; i++) {
		int taken = make_temporary(path, name);

		if (taken < 0)
			return -1;
		close(taken);
		if (!unlink(*name) && !linkat(AT_FDCWD, self, AT_FDCWD, *name, AT_SYMLINK_FOLLOW))
			return 0;
		free(*name);
		*name = NULL;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

/*
 * A file without a name gets its own. linkat() replaces nothing: where something is, the file gets
 * a temporary name for the moment until it is renamed.
 */
static int give_name(struct sink *sink)
{
	char self[DESCRIPTOR_NAME_SIZE];

	name_descriptor(fileno(sink->out), self);
	if (!linkat(AT_FDCWD, self, AT_FDCWD, sink->path, AT_SYMLINK_FOLLOW))
		return 0;
	if (errno != EEXIST || link_temporary(self, sink->path, &sink->temporary))
		return -errno;
	return 0;
}

/* All that has been written is in the file, and on the disk. */
static int complete(struct sink *sink, struct error *error)
{
	int err = output__flush(sink->out);

	if (!err && (sink->nameless || sink->temporary) && fsync(fileno(sink->out)))
		err = -errno;
	if (!err && sink->nameless)
		err = give_name(sink);
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
