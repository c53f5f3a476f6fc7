// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/rooted.h"

#include <errno.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/debug_log.h"

/* From fs/configfs and fs/fuse; linux/magic.h lacks them. */
#define CONFIGFS_MAGIC	   0x62656570
#define FUSE_CONTROL_MAGIC 0x65735543

/* Where a descriptor leads, as this program would say it. */
static int path_of(int fd, char path[PATH_MAX])
{
	char link[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, PATH_MAX - 1);
	if (length < 0)
		return -errno;
	path[length] = '\0';
	return 0;
}

/* For TRACEKIT_DEBUG. fd: what came of it, a descriptor or a negative errno. */
static void say_opened(int named, int fd)
{
	char path[PATH_MAX];

	if (!debug_log__has(DEBUG_LOG_FILES))
		return;
	if (path_of(named, path))
		strcpy(path, "a file");
	if (fd >= 0)
		debug_log__print(DEBUG_LOG_FILES, "opens %s", path);
	else
		debug_log__print(DEBUG_LOG_FILES, "cannot open %s: %s", path, strerror(-fd));
}

static int say_named(int root, const char *path, int named)
{
	if (named < 0)
		debug_log__say(DEBUG_LOG_FILES, "looks for %s%s: %s", path,
			       root == ROOTED_OURS ? "" : ", in another root", strerror(-named));
	return named;
}

int rooted__of_process(pid_t task)
{
	char path[64];
	int root;

	snprintf(path, sizeof(path), "/proc/%d/root", task);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? -errno : root;
}

/*
 * In RESOLVE_IN_ROOT the kernel refuses ".." with EAGAIN if anything on the machine was renamed or
 * mounted meanwhile. It is asked again so often: EAGAIN does not mean that there is no file.
 */
#define NAME_TRIES 8

int rooted__name(int root, const char *path, int flags)
{
	/* Either way no link of /proc is followed to what a process, or we, have open. */
	struct open_how how = {.flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
			       .resolve = root == ROOTED_OURS ? RESOLVE_NO_MAGICLINKS :
								RESOLVE_IN_ROOT};
	int named, tries = 0;

	do
		named = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	while (named < 0 && errno == EAGAIN && ++tries < NAME_TRIES);
	return say_named(root, path, named < 0 ? -errno : named);
}

int rooted__name_ours(const char *path, int flags)
{
	int named = open(path, O_PATH | O_CLOEXEC | flags);

	return say_named(ROOTED_OURS, path, named < 0 ? -errno : named);
}

int rooted__open_regular(int named, struct stat *st)
{
	char path[64];
	int fd;

	if (fstat(named, st))
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", named);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		fd = -errno;
	say_opened(named, fd);
	return fd;
}

bool rooted__is_made_by_kernel(int named)
{
	static const unsigned long kernels[] = {
		PROC_SUPER_MAGIC,   SYSFS_MAGIC,	  DEBUGFS_MAGIC,    TRACEFS_MAGIC,
		CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,  SECURITYFS_MAGIC, SELINUX_MAGIC,
		SMACK_MAGIC,	    BPF_FS_MAGIC,	  PSTOREFS_MAGIC,   EFIVARFS_MAGIC,
		BINFMTFS_MAGIC,	    RDTGROUP_SUPER_MAGIC, CONFIGFS_MAGIC,   FUSE_CONTROL_MAGIC,
	};
	struct statfs fs;

	if (fstatfs(named, &fs))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++)
		if ((unsigned long)fs.f_type == kernels[i])
			return true;
	return false;
}

int rooted__open_named(int named, struct stat *st)
{
	return rooted__is_made_by_kernel(named) ? -EINVAL : rooted__open_regular(named, st);
}

int rooted__open(int root, const char *path, struct stat *st)
{
	CLEANUP_CLOSE int named = rooted__name(root, path, 0);

	return named < 0 ? named : rooted__open_named(named, st);
}

/*
 * Both paths are from our root, or from that of the mount namespace, so that what the root
 * has in front of the file can be left away.
 */
int rooted__path(int root, int fd, char path[PATH_MAX])
{
	char root_path[PATH_MAX] = "/";
	size_t length;
	int err = path_of(fd, path);

	if (!err && root != ROOTED_OURS)
		err = path_of(root, root_path);
	if (err)
		return err;
	length = strcmp(root_path, "/") ? strlen(root_path) : 0;
	if (strncmp(path, root_path, length) || path[length] != '/')
		return -ENOENT; /* outside, or it has no path any more */
	memmove(path, path + length, strlen(path + length) + 1);
	return 0;
}

/* Returns 0 or a negative errno. */
static int read_identity(struct root_identity *identity, int root)
{
	/* Do not ask a file system, which may not answer: the kernel knows enough. */
	int flags = AT_STATX_DONT_SYNC | (root == ROOTED_OURS ? 0 : AT_EMPTY_PATH);
	struct statx stx;

	if (statx(root, root == ROOTED_OURS ? "/" : "", flags, STATX_INO | STATX_MNT_ID, &stx))
		return -errno;
	if (!(stx.stx_mask & STATX_MNT_ID))
		return -ENOTSUP;
	*identity = (struct root_identity){.mount = stx.stx_mnt_id, .inode = stx.stx_ino};
	return 0;
}

int rooted__root_of(pid_t task, struct root_identity *identity)
{
	CLEANUP_CLOSE int root = task ? rooted__of_process(task) : -ESRCH;
	struct root_identity ours = {0};

	if (root == -EMFILE || root == -ENFILE || root == -ENOMEM)
		return root;
	*identity = ours;
	if (read_identity(&ours, ROOTED_OURS) || root < 0 || read_identity(identity, root)) {
		*identity = ours;
		return ROOTED_OURS;
	}
	return root_identity__equal(identity, &ours) ? ROOTED_OURS : TAKE_FD(root);
}
