// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/kernel_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"

static const struct {
	const char *type;
	long magic;
	const char *places[2];
} file_systems[NR_KERNEL_FS] = {
	[KERNEL_FS_SYS] = {"sysfs", SYSFS_MAGIC, {"/sys"}},
	[KERNEL_FS_TRACE] = {"tracefs",
			     TRACEFS_MAGIC,
			     {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}},
	[KERNEL_FS_DEBUG] = {"debugfs", DEBUGFS_MAGIC, {"/sys/kernel/debug"}},
	[KERNEL_FS_SECURITY] = {"securityfs", SECURITYFS_MAGIC, {"/sys/kernel/security"}},
};

/*
 * Returns a descriptor, or a negative errno: -ENOENT if something else, or nothing, is there. Only
 * O_PATH does not have the kernel mount tracefs in debugfs, where it would stay.
 */
static int open_mounted(const char *place, long magic)
{
	CLEANUP_CLOSE int folder = open(place, O_PATH | O_CLOEXEC);
	struct statfs found;
	int fd;

	if (folder < 0)
		return -errno;
	if (fstatfs(folder, &found) || found.f_type != magic)
		return -ENOENT;
	fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* EPERM, and ENOSYS before Linux 5.2: there is only what is mounted. */
static int why_not_mounted(void)
{
	return errno == EPERM || errno == ENOSYS ? -ENOENT : -errno;
}

static int mount_without_place(const char *type)
{
	CLEANUP_CLOSE int context = fsopen(type, FSOPEN_CLOEXEC);
	int mounted;

	if (context < 0 || fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return why_not_mounted();
	mounted = fsmount(context, FSMOUNT_CLOEXEC,
			  MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
				  MOUNT_ATTR_NOEXEC);
	return mounted < 0 ? why_not_mounted() : mounted;
}

int kernel_fs__open(enum kernel_fs fs)
{
	for (size_t i = 0; i < ARRAY_SIZE(file_systems[fs].places); i++) {
		const char *place = file_systems[fs].places[i];
		int fd = place ? open_mounted(place, file_systems[fs].magic) : -ENOENT;

		if (fd != -ENOENT)
			return fd;
	}
	return mount_without_place(file_systems[fs].type);
}

FILE *kernel_fs__open_file(enum kernel_fs fs, const char *path)
{
	CLEANUP_CLOSE int root = kernel_fs__open(fs);
	CLEANUP_CLOSE int fd = -1;
	FILE *file;

	if (root < 0) {
		errno = -root;
		return NULL;
	}
	fd = openat(root, path, O_RDONLY | O_CLOEXEC);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (file)
		TAKE_FD(fd);
	return file;
}
