// SPDX-License-Identifier: GPL-2.0-or-later
#include "applets/install.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applets/applet.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"

/* A link of either kind leads to the program itself. */
static bool leads_to(int directory, const char *name, const struct stat *program)
{
	struct stat st;

	return fstatat(directory, name, &st, 0) == 0 && st.st_dev == program->st_dev &&
	       st.st_ino == program->st_ino;
}

static int link_failed(const char *directory, const char *name, int code, struct error *error)
{
	if (code == -EEXIST)
		return error__set(error, code,
				  "cannot install %s/%s: something else is there; remove it first",
				  directory, name);
	if (code == -EXDEV)
		return error__set(error, code,
				  "cannot install %s/%s: it is on another file system; use "
				  "--install -s",
				  directory, name);
	return error__set(error, code, "cannot install %s/%s: %s", directory, name,
			  strerror(-code));
}

int install__links(const char *directory, bool symbolic, const struct applet *const *applets,
		   struct error *error)
{
	CLEANUP_CLOSE int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char program[PATH_MAX];
	struct stat st;
	ssize_t length;

	if (fd < 0)
		return error__set(error, -errno, "cannot install into %s: %s", directory,
				  strerror(errno));
	length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (length < 0 || stat("/proc/self/exe", &st))
		return error__set(error, -errno,
				  "cannot find this program: /proc/self/exe: %s; mount /proc",
				  strerror(errno));
	program[length] = '\0';
	if (symbolic && !leads_to(AT_FDCWD, program, &st))
		return error__set(error, -ENOENT,
				  "cannot install symbolic links: %s is not this program any more",
				  program);
	for (; *applets; applets++) {
		const char *name = (*applets)->command.name;
		int err;

		if (leads_to(fd, name, &st))
			continue;
		err = symbolic ? symlinkat(program, fd, name) :
				 linkat(AT_FDCWD, "/proc/self/exe", fd, name, AT_SYMLINK_FOLLOW);
		if (err)
			return link_failed(directory, name, -errno, error);
	}
	return 0;
}
