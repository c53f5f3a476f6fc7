// SPDX-License-Identifier: GPL-2.0-or-later
/* Each case runs in a child with a mount namespace of its own, whose /sys it covers. */
#include "sym/util/kernel_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

#define NO_NAMESPACE 77

/* Where tracefs was mounted once, and its two folders. */
static const char *const folders[] = {"/sys/kernel", "/sys/kernel/debug",
				      "/sys/kernel/debug/tracing", "/sys/kernel/tracing"};

/* Run steps(), which returns 0 or the number of the line that failed, where /sys is empty. */
static void run_apart(int (*steps)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("none", "/sys", "tmpfs", 0, NULL))
			_exit(NO_NAMESPACE);
		for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
			mkdir(folders[i], 0755);
		_exit(steps() ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_NAMESPACE)
		tap_skip("needs root, and mount namespaces");
	else
		CHECK_INT(status, 0);
}

/* In a child: its checks are printed, and its status says that one failed. */
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!CHECK(condition))                                                             \
			return -1;                                                                 \
	} while (0)

/* True if fd is of the mount that nobody sees: mounts of a test can be written to. */
static bool is_our_own(int fd)
{
	struct statvfs found;

	return fstatvfs(fd, &found) == 0 && (found.f_flag & ST_RDONLY);
}

static bool is_listed(const char *type)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/self/mounts", "re");
	char line[4096], word[64];

	snprintf(word, sizeof(word), " %s ", type);
	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, word) && strncmp(line, "sysfs /sys ", 11))
			return true;
	return false;
}

static int steps_not_mounted(void)
{
	CLEANUP_CLOSE int tracefs = kernel_fs__open(KERNEL_FS_TRACE);
	CLEANUP_CLOSE int sysfs = kernel_fs__open(KERNEL_FS_SYS);
	CLEANUP_FCLOSE FILE *id =
		kernel_fs__open_file(KERNEL_FS_TRACE, "events/sched/sched_switch/id");
	CLEANUP_FCLOSE FILE *online =
		kernel_fs__open_file(KERNEL_FS_SYS, "devices/system/cpu/online");
	int number = 0;

	EXPECT(tracefs >= 0 && is_our_own(tracefs));
	EXPECT(sysfs >= 0 && is_our_own(sysfs));
	EXPECT(fcntl(tracefs, F_GETFD) == FD_CLOEXEC);
	EXPECT(fcntl(sysfs, F_GETFD) == FD_CLOEXEC);
	EXPECT(id && fscanf(id, "%d", &number) == 1 && number > 0);
	EXPECT(online && fscanf(online, "%d", &number) == 1);
	EXPECT(!is_listed("tracefs"));
	return 0;
}

static void not_mounted(void)
{
	run_apart(steps_not_mounted);
}

static int steps_mounted(void)
{
	for (size_t i = 2; i < 4; i++) {
		CLEANUP_CLOSE int fd = -1;

		EXPECT(mount("nodev", folders[i], "tracefs", 0, NULL) == 0);
		fd = kernel_fs__open(KERNEL_FS_TRACE);
		EXPECT(fd >= 0 && !is_our_own(fd));
		EXPECT(umount2(folders[i], MNT_DETACH) == 0);
	}
	return 0;
}

static void mounted(void)
{
	run_apart(steps_mounted);
}

/* Nor does the kernel mount tracefs there, as it does for who opens that folder of debugfs. */
static int steps_debugfs(void)
{
	CLEANUP_FCLOSE FILE *id = NULL;
	CLEANUP_CLOSE int debugfs = -1;

	EXPECT(mount("nodev", folders[1], "debugfs", 0, NULL) == 0);
	debugfs = kernel_fs__open(KERNEL_FS_DEBUG);
	EXPECT(debugfs >= 0 && !is_our_own(debugfs));
	id = kernel_fs__open_file(KERNEL_FS_TRACE, "events/sched/sched_switch/id");
	EXPECT(id && is_our_own(fileno(id)));
	EXPECT(!is_listed("tracefs"));
	return 0;
}

static void in_debugfs(void)
{
	run_apart(steps_debugfs);
}

/* A folder of another file system that looks like it is not asked. */
static int steps_imitated(void)
{
	CLEANUP_FCLOSE FILE *file = NULL;

	EXPECT(mkdir("/sys/kernel/tracing/events", 0755) == 0);
	EXPECT(mkdir("/sys/kernel/tracing/events/imitated", 0755) == 0);
	file = kernel_fs__open_file(KERNEL_FS_TRACE, "events/imitated");
	EXPECT(!file && errno == ENOENT);
	return 0;
}

static void imitated(void)
{
	run_apart(steps_imitated);
}

static int steps_not_permitted(void)
{
	EXPECT(setresuid(65534, 65534, 65534) == 0);
	EXPECT(kernel_fs__open(KERNEL_FS_TRACE) == -ENOENT);
	EXPECT(kernel_fs__open(KERNEL_FS_SYS) == -ENOENT);
	EXPECT(!kernel_fs__open_file(KERNEL_FS_SYS, "devices/system/cpu/online"));
	EXPECT(errno == ENOENT);
	return 0;
}

static void not_permitted(void)
{
	run_apart(steps_not_permitted);
}

static int steps_unreadable(void)
{
	EXPECT(mount("nodev", folders[3], "tracefs", 0, "mode=700") == 0);
	EXPECT(setresuid(65534, 65534, 65534) == 0);
	EXPECT(kernel_fs__open(KERNEL_FS_TRACE) == -EACCES);
	return 0;
}

static void unreadable(void)
{
	run_apart(steps_unreadable);
}

static const struct tap_test tests[] = {
	{"what nobody has mounted is there all the same, and in no list of mounts", not_mounted},
	{"what is mounted is used, at both places", mounted},
	{"tracefs is not mounted in debugfs by looking for it", in_debugfs},
	{"what only looks like it is not", imitated},
	{"who may not mount is told that it is not there", not_permitted},
	{"who may not read what is mounted is told so", unreadable},
};

int main(void)
{
	return TAP_RUN(tests);
}
