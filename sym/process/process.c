// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "sym/child/proc_stat.h"
#include "sym/elf/file.h"
#include "sym/process/mapped_build_id.h"
#include "sym/process/rooted.h"
#include "sym/util/cleanup.h"
#include "sym/util/debug_log.h"
#include "sym/util/page.h"

/* Returns 0, -ESRCH if that thread has no memory (any more), or another negative errno. */
static int read_maps(int at, const char *path, struct mapping_list *mappings)
{
	/* Outlives the file, whose own buffer would have room for some lines only. */
	char buffer[16 * 1024];
	CLEANUP_FCLOSE FILE *file = NULL;
	int err = proc_file__open(at, path, &file);

	if (err)
		return err;
	setvbuf(file, buffer, _IOFBF, sizeof(buffer));
	err = mapping_list__read(mappings, file);
	return err || mappings->nr ? err : -ESRCH;
}

/* A process whose first thread has ended lives on in its others. */
static int read_other_tasks(int directory, struct process *process)
{
	CLEANUP_CLOSE int fd = openat(directory, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_CLOSEDIR DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
	char path[64];
	int err = -ESRCH;

	if (tasks)
		(void)TAKE_FD(fd); /* it belongs to tasks */
	while (err == -ESRCH && (process->task = proc_directory__next(tasks))) {
		if (process->task == process->pid)
			continue;
		snprintf(path, sizeof(path), "task/%d/maps", process->task);
		err = read_maps(directory, path, &process->mappings);
	}
	return err;
}

/* Of a thread that has not ended. */
static int read_program(int directory, struct process *process)
{
	struct proc_stat stat;
	char path[64] = "stat";
	int err;

	if (process->task != process->pid)
		snprintf(path, sizeof(path), "task/%d/stat", process->task);
	err = proc_stat__read_at(directory, path, &stat);
	if (!err)
		process->program = stat.start_stack;
	return err;
}

/*
 * Files opened from the directory of a process are of that process, whatever becomes of its PID.
 * The mappings go when it ends, and come first.
 */
int process__read(struct process *process, pid_t pid)
{
	CLEANUP(process__release) struct process found = {.pid = pid, .task = pid};
	CLEANUP_CLOSE int directory = -1;
	struct proc_stat before;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = proc_stat__read_at(directory, "stat", &before);
	if (!err)
		err = read_maps(directory, "maps", &found.mappings);
	if (err == -ESRCH)
		err = read_other_tasks(directory, &found);
	if (!err)
		err = read_program(directory, &found);
	/* It has called exec() meanwhile. */
	if (!err && before.start_stack && found.program != before.start_stack)
		err = -ESRCH;
	if (err)
		return err;
	found.start_time = before.start_time;
	*process = found;
	found.mappings = (struct mapping_list){0};
	return 0;
}

void process__release(struct process *process)
{
	mapping_list__release(&process->mappings);
}

/*
 * True if the kernel shows the file at fd, where it is mapped, with the device and inode of the
 * mapping: it is mapped for that, and not touched. False for files in huge pages: one page would be
 * taken.
 */
static bool is_shown_so(const struct mapping *mapping, int fd)
{
	CLEANUP(mapping_list__release) struct mapping_list own = {0};
	const struct mapping *shown = NULL;
	struct statfs fs;
	void *mapped;

	if (fstatfs(fd, &fs) || fs.f_type == HUGETLBFS_MAGIC)
		return false;
	mapped = mmap(NULL, page_size(), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (mapped == MAP_FAILED)
		return false;
	if (!read_maps(AT_FDCWD, "/proc/self/maps", &own))
		shown = mapping_list__find(&own, (uint64_t)(uintptr_t)mapped);
	munmap(mapped, page_size());
	return shown && shown->device == mapping->device && shown->inode == mapping->inode;
}

/*
 * The mapped inode itself: right for deleted and replaced files and in any mount namespace. But
 * something else can be mapped there by now, as by exec(). On btrfs, and on overlayfs of old
 * kernels, stat() has another device and inode than the kernel shows of mapped files.
 */
static int open_mapped(const struct process *process, const struct mapping *mapping)
{
	CLEANUP_CLOSE int named = -1;
	CLEANUP_CLOSE int fd = -1;
	struct stat st;
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, process->task,
		 mapping->start, mapping->end);
	named = rooted__name_ours(path, 0);
	if (named < 0)
		return named;
	fd = rooted__open_named(named, &st);
	if (fd < 0)
		return fd;
	if ((st.st_dev != mapping->device || st.st_ino != mapping->inode) &&
	    !is_shown_so(mapping, fd))
		return -ESTALE;
	return TAKE_FD(fd);
}

/*
 * The file of path in the root of the process, and nowhere else; flags as in sym/process/rooted.h.
 */
static int name_in_root(const struct process *process, const char *path, int flags)
{
	CLEANUP_CLOSE int root = rooted__of_process(process->task);

	return root < 0 ? root : rooted__name(root, path, flags);
}

/* True if the file at fd has the build ID of the mapping. */
static bool has_mapped_build_id(const struct process *process, const struct mapping *mapping,
				int fd)
{
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	unsigned char mapped[ELF_BUILD_ID_MAX], found[ELF_BUILD_ID_MAX];
	int size = process->task ? mapped_build_id__read(process->task, mapping, mapped) : -ENOENT;

	return size > 0 && elf_file__open(&elf, fd) == 0 &&
	       elf_notes__build_id(&elf, found) == size && !memcmp(mapped, found, (size_t)size);
}

/*
 * Open a file that may be the mapped one, without CAP_SYS_ADMIN (or CAP_CHECKPOINT_RESTORE). On
 * btrfs, and on overlayfs of old kernels, maps shows another device than stat: then the number of
 * the inode says little, since snapshots share it, and the build ID, which the kernel reads from
 * the mapped file itself, must be the same. If the kernel does not tell the build ID, the file may
 * be another one, and is not opened.
 */
static int open_named(const struct process *process, const struct mapping *mapping, int owned_fd)
{
	CLEANUP_CLOSE int named = owned_fd;
	CLEANUP_CLOSE int fd = -1;
	struct stat st;

	if (named < 0)
		return named;
	if (fstat(named, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_ino != mapping->inode)
		return -ESTALE;
	fd = rooted__open_named(named, &st);
	if (fd < 0)
		return fd;
	if (st.st_dev != mapping->device && !has_mapped_build_id(process, mapping, fd))
		return -ESTALE;
	return TAKE_FD(fd);
}

/* The program that was started, which needs no path: it may be deleted, or memory. */
static int name_program(const struct process *process)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", process->task);
	return rooted__name_ours(path, 0);
}

/* Where the path, which may be one in another root, leads to in ours. */
static int name_in_own_root(const char *path)
{
	return path[0] == '/' ? rooted__name(ROOTED_OURS, path, 0) : -ENOENT;
}

static int open_file(const struct process *process, const struct mapping *mapping)
{
	int fd, err;

	if (!process->task)
		return open_named(process, mapping, name_in_own_root(mapping->path));
	fd = open_mapped(process, mapping);
	if (fd >= 0 || fd == -EINVAL)
		return fd;
	err = open_named(process, mapping, name_in_root(process, mapping->path, 0));
	if (err >= 0 || err == -EINVAL)
		return err;
	fd = open_named(process, mapping, name_program(process));
	return fd >= 0 ? fd : err;
}

int process__open_file(const struct process *process, const struct mapping *mapping)
{
	int fd = open_file(process, mapping);

	if (fd < 0)
		debug_log__say(DEBUG_LOG_FILES, "%s, as %d has it, cannot be had: %s",
			       mapping->path, process->pid, strerror(-fd));
	return fd;
}

/* Where a link of /proc/PID/ leads, as this program would say it. */
static int read_link(const struct process *process, const char *link, char target[PATH_MAX])
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/%s", process->task, link);
	length = readlink(path, target, PATH_MAX - 1);
	if (length < 0)
		return -errno;
	target[length] = '\0';
	return 0;
}

/*
 * An absolute path in the root of the process for a path that may be relative to its current
 * directory: the links of both show paths from our root, or from that of its mount
 * namespace, so the path of the root is left away in front of the directory's.
 */
static int make_absolute(const struct process *process, const char *path, char absolute[PATH_MAX])
{
	char root[PATH_MAX], cwd[PATH_MAX];
	size_t length;
	int err;

	if (path[0] == '/')
		return snprintf(absolute, PATH_MAX, "%s", path) < PATH_MAX ? 0 : -ENAMETOOLONG;
	err = read_link(process, "root", root);
	if (!err)
		err = read_link(process, "cwd", cwd);
	if (err)
		return err;
	length = strcmp(root, "/") ? strlen(root) : 0;
	if (strncmp(cwd, root, length) || (cwd[length] != '/' && cwd[length] != '\0'))
		return -ENOENT; /* outside */
	return snprintf(absolute, PATH_MAX, "%s/%s", cwd + length, path) < PATH_MAX ? 0 :
										      -ENAMETOOLONG;
}

int process__open_path(const struct process *process, const char *path)
{
	CLEANUP_CLOSE int root = -1;
	char absolute[PATH_MAX];
	struct stat st;
	int err = make_absolute(process, path, absolute);

	if (err)
		return err;
	root = rooted__of_process(process->task);
	return root < 0 ? root : rooted__open(root, absolute, &st);
}

int process__open_directory(const struct process *process, const char *path)
{
	CLEANUP_CLOSE int named = name_in_root(process, path, O_DIRECTORY);
	int fd;

	if (named < 0)
		return named;
	if (rooted__is_made_by_kernel(named))
		return -EINVAL;
	fd = openat(named, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int process__open_own_path(const char *path)
{
	CLEANUP_CLOSE int named = rooted__name_ours(path, 0);
	struct stat st;

	return named < 0 ? named : rooted__open_regular(named, &st);
}

/* From /proc/PID/status: the effective user, and the PID in the innermost PID namespace. */
static int read_status(pid_t task, uid_t *user, pid_t *inner_pid)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	char path[64], line[1024];
	int found = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", task);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	while (found < 2 && fgets(line, sizeof(line), file)) {
		const char *last = strrchr(line, '\t');

		if (sscanf(line, "Uid: %*u %u", user) == 1)
			found++;
		/* "NSpid:\t4026\t17\t1": one for each namespace, the innermost last */
		else if (!strncmp(line, "NSpid:", 6) && last && sscanf(last, "%d", inner_pid) == 1)
			found++;
	}
	return found == 2 ? 0 : -ESRCH;
}

/*
 * A map that root has written for others is readable for all. Another file of root can have been
 * mounted there in a user namespace, so that we read for its user what he may not.
 */
static bool may_be_jit_map(const struct stat *st, uid_t user)
{
	return st->st_uid == user || (st->st_uid == 0 && st->st_mode & S_IROTH);
}

int process__open_jit_map(const struct process *process)
{
	CLEANUP_CLOSE int named = -1;
	CLEANUP_CLOSE int fd = -1;
	pid_t inner_pid;
	struct stat st;
	char path[64];
	uid_t user;
	int err = read_status(process->pid, &user, &inner_pid);

	if (err)
		return err;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", inner_pid);
	named = name_in_root(process, path, O_NOFOLLOW);
	if (named < 0)
		return named;
	fd = rooted__open_named(named, &st);
	if (fd < 0)
		return fd;
	return may_be_jit_map(&st, user) ? TAKE_FD(fd) : -EPERM;
}
