// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sym/process/mapped_build_id.h"
#include "sym/process/rooted.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/copies.h"
#include "test/unit/tap.h"

/* As on some file systems: see "--wrap" in ld(1). */
static bool stat_differs;

int __real_rooted__open_named(int named, struct stat *st);
int __wrap_rooted__open_named(int named, struct stat *st);

int __wrap_rooted__open_named(int named, struct stat *st)
{
	int fd = __real_rooted__open_named(named, st);

	if (fd >= 0 && stat_differs) {
		st->st_dev++;
		st->st_ino++;
	}
	return fd;
}

#define CLEANUP_PROCESS CLEANUP(process__release)

static struct process read_self(void)
{
	struct process process = {0};

	CHECK_INT(process__read(&process, getpid()), 0);
	return process;
}

static const struct mapping *find_code(const struct process *process, const void *code)
{
	const struct mapping *mapping =
		mapping_list__find(&process->mappings, (uint64_t)(uintptr_t)code);

	CHECK(mapping);
	return mapping;
}

/* ---- process__read() ---- */

static void this_process(void)
{
	CLEANUP_PROCESS
	struct process process = read_self();
	struct timespec now;
	uint64_t ticks;

	CHECK_INT(process.pid, getpid());
	CHECK(find_code(&process, this_process));
	clock_gettime(CLOCK_BOOTTIME, &now);
	ticks = (uint64_t)now.tv_sec * (uint64_t)sysconf(_SC_CLK_TCK);
	CHECK(process.start_time > 0 && process.start_time <= ticks + 100);
}

static void names_that_look_like_stat(void)
{
	static const char *const comms[] = {") R 1 2",	     "a) b (c) d",    "(((", ")))",
					    ") Z 1 1 1 1 1", "a b\nc) S 1\n", " ",   ""};
	CLEANUP_PROCESS
	struct process before = read_self();
	char kept[16];

	prctl(PR_GET_NAME, kept);
	for (size_t i = 0; i < ARRAY_SIZE(comms); i++) {
		CLEANUP_PROCESS
		struct process process = {0};

		prctl(PR_SET_NAME, comms[i]);
		process = read_self();
		tap_check(process.start_time == before.start_time, __FILE__, __LINE__,
			  "'%s' changes the start time", comms[i]);
	}
	prctl(PR_SET_NAME, kept);
}

static void processes_that_have_ended(void)
{
	struct process process = {.pid = 77};
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0)
		_exit(0);
	CHECK_INT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	CHECK_INT(process__read(&process, pid), -ESRCH);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
	CHECK_INT(process__read(&process, pid), -ESRCH);
	CHECK_INT(process__read(&process, INT_MAX), -ESRCH);
	CHECK_INT(process__read(&process, -1), -ESRCH);
	CHECK_INT(process.pid, 77);
}

static void a_child_started_later(void)
{
	CLEANUP_PROCESS
	struct process self = read_self();
	CLEANUP_PROCESS
	struct process child = {0};
	/* The start time is in ticks of 10 ms. */
	const struct timespec ticks = {.tv_nsec = 30000000};
	pid_t pid;

	nanosleep(&ticks, NULL);
	pid = start_copy();
	CHECK_INT(process__read(&child, pid), 0);
	CHECK(child.start_time > self.start_time);
	end_copy(pid);
}

static void *sleep_in_thread(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* A child whose first thread has ended, while a second one sleeps. */
static pid_t start_headless_child(void)
{
	pid_t pid = fork();
	pthread_t thread;
	siginfo_t info;

	if (pid == 0) {
		pthread_create(&thread, NULL, sleep_in_thread, NULL);
		kill(getpid(), SIGSTOP);
		syscall(SYS_exit, 0);
	}
	CHECK_INT(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
	kill(pid, SIGCONT);
	return pid;
}

/* Wait, for a second at most, until the first thread of pid has no memory any more. */
static void wait_for_first_thread(pid_t pid)
{
	const struct timespec pause_time = {.tv_nsec = 10000000};
	bool ended = false;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	for (int i = 0; i < 100 && !ended; i++) {
		CLEANUP_FCLOSE FILE *file = fopen(path, "re");

		ended = !file || fgetc(file) == EOF;
		nanosleep(&pause_time, NULL);
	}
	CHECK(ended);
}

static void first_thread_that_has_ended(void)
{
	CLEANUP_PROCESS
	struct process process = {0};
	pid_t pid = start_headless_child();
	int fd;

	wait_for_first_thread(pid);
	if (CHECK_INT(process__read(&process, pid), 0)) {
		CHECK_INT(process.pid, pid);
		fd = process__open_file(&process, find_code(&process, sleep_in_thread));
		CHECK(fd >= 0);
		if (fd >= 0)
			close(fd);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- process__open_file() ---- */

/* True if fd, which is closed here, is the file that st describes. */
static bool is_file(int fd, const struct stat *st)
{
	struct stat opened;
	bool same = fd >= 0 && fstat(fd, &opened) == 0 && opened.st_ino == st->st_ino &&
		    opened.st_dev == st->st_dev;

	if (fd >= 0)
		close(fd);
	return same;
}

static void own_program(void)
{
	CLEANUP_PROCESS
	struct process process = read_self();
	const struct mapping *mapping = find_code(&process, own_program);
	struct stat st;
	int fd;

	CHECK_INT(stat("/proc/self/exe", &st), 0);
	fd = process__open_file(&process, mapping);
	CHECK(fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC));
	CHECK(is_file(fd, &st));
}

/* A directory for one test, and paths in it. */
static char directory[64], file_path[96], kept_path[96];

static void make_directory(void)
{
	snprintf(directory, sizeof(directory), "test_process.XXXXXX");
	CHECK(mkdtemp(directory));
	snprintf(file_path, sizeof(file_path), "%s/file", directory);
	snprintf(kept_path, sizeof(kept_path), "%s/kept", directory);
}

static void remove_directory(void)
{
	unlink(file_path);
	unlink(kept_path);
	CHECK_INT(rmdir(directory), 0);
}

/* A page of a new file at file_path, mapped executable; st describes it. */
static void *map_new_file(struct stat *st)
{
	CLEANUP_CLOSE int fd = open(file_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *code = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, (off_t)size) && !fstat(fd, st))
		code = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED)
		tap_skip("this directory allows no executable files");
	return code;
}

/* /proc/PID/map_files needs privileges. */
static bool sees_map_files(void)
{
	CLEANUP_PROCESS
	struct process process = read_self();
	const struct mapping *own = find_code(&process, sees_map_files);
	CLEANUP_CLOSE int fd = -1;
	char path[96];

	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (unsigned long)own->start,
		 (unsigned long)own->end);
	fd = open(path, O_PATH | O_CLOEXEC);
	return fd >= 0;
}

static void deleted_file(void)
{
	CLEANUP_PROCESS
	struct process process = {0};
	struct stat st;
	void *code;

	make_directory();
	code = map_new_file(&st);
	unlink(file_path);
	if (code != MAP_FAILED) {
		process = read_self();
		if (sees_map_files())
			CHECK(is_file(process__open_file(&process, find_code(&process, code)),
				      &st));
		else
			tap_skip("only root opens mapped files that have no name");
		munmap(code, (size_t)sysconf(_SC_PAGESIZE));
	}
	remove_directory();
}

struct replaced {
	void *code, *replacement; /* a page of each, mapped */
	struct stat old;
	size_t size; /* of a page */
};

/* A file that is mapped, now at kept_path, and another one in its place. */
static bool replace_file(struct replaced *replaced)
{
	struct stat new;

	make_directory();
	replaced->size = (size_t)sysconf(_SC_PAGESIZE);
	replaced->code = map_new_file(&replaced->old);
	CHECK_INT(rename(file_path, kept_path), 0);
	replaced->replacement = map_new_file(&new);
	return replaced->code != MAP_FAILED && replaced->replacement != MAP_FAILED;
}

static void replaced_file(void)
{
	struct replaced replaced;

	if (replace_file(&replaced)) {
		CLEANUP_PROCESS
		struct process process = read_self();
		struct mapping mapping = *find_code(&process, replaced.code);

		mapping.path = find_code(&process, replaced.replacement)->path;
		if (sees_map_files())
			CHECK(is_file(process__open_file(&process, &mapping), &replaced.old));
		/* Where map_files does not help, the path alone must not deceive. */
		mapping.start = 0;
		CHECK_INT(process__open_file(&process, &mapping), -ESTALE);
		munmap(replaced.code, replaced.size);
		munmap(replaced.replacement, replaced.size);
	}
	remove_directory();
}

/* Open a mapping of this process that map_files does not have, so that its path decides. */
static int open_path(const char *path, ino_t inode, dev_t device)
{
	CLEANUP_PROCESS
	struct process process = read_self();
	struct mapping mapping = {
		.start = 1, .end = 2, .device = device, .inode = inode, .path = (char *)path};

	return process__open_file(&process, &mapping);
}

static void path_needs_its_inode(void)
{
	char path[PATH_MAX];
	struct stat st;

	CHECK(realpath("/proc/self/exe", path));
	CHECK_INT(stat(path, &st), 0);
	CHECK(is_file(open_path(path, st.st_ino, st.st_dev), &st));
	CHECK_INT(open_path(path, st.st_ino + 1, st.st_dev), -ESTALE);
	CHECK_INT(open_path("/nonexistent", st.st_ino + 1, st.st_dev), -ENOENT);
	CHECK_INT(open_path("", st.st_ino + 1, st.st_dev), -ENOENT);
}

static void what_is_no_regular_file(void)
{
	char path[PATH_MAX + sizeof(file_path)], cwd[PATH_MAX];
	struct stat st;

	make_directory();
	CHECK(getcwd(cwd, sizeof(cwd)));
	snprintf(path, sizeof(path), "%s/%s", cwd, file_path);
	CHECK_INT(mkfifo(path, 0600), 0);
	CHECK_INT(stat(path, &st), 0);
	/* Whoever waits for a FIFO's other end is killed. */
	alarm(10);
	CHECK_INT(open_path(path, st.st_ino, st.st_dev), -EINVAL);
	alarm(0);
	CHECK_INT(stat("/dev/null", &st), 0);
	CHECK_INT(open_path("/dev/null", st.st_ino, st.st_dev), -EINVAL);
	CHECK_INT(stat("/", &st), 0);
	CHECK_INT(open_path("/", st.st_ino, st.st_dev), -EINVAL);
	/* Nor a file that the kernel makes, though it looks like one. */
	CHECK_INT(stat("/proc/version", &st), 0);
	CHECK_INT(open_path("/proc/version", st.st_ino, st.st_dev), -EINVAL);
	remove_directory();
}

/* The number alone says nothing on another file system. */
static void same_inode_number_elsewhere(void)
{
	char path[PATH_MAX + sizeof(file_path)], cwd[PATH_MAX];
	struct stat st;

	make_directory();
	CHECK(getcwd(cwd, sizeof(cwd)));
	snprintf(path, sizeof(path), "%s/%s", cwd, file_path);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(open_path(path, st.st_ino, st.st_dev + 1), -ESTALE);
	remove_directory();
}

/* On btrfs stat() has another device than maps, and on old overlayfs another inode, too. */
static void stat_differs_from_maps(void)
{
	CLEANUP_PROCESS
	struct process process = read_self();
	struct mapping mapping = *find_code(&process, stat_differs_from_maps);
	struct stat st;

	CHECK_INT(stat("/proc/self/exe", &st), 0);
	stat_differs = true;
	CHECK(is_file(process__open_file(&process, &mapping), &st));
	mapping.inode++;
	CHECK_INT(process__open_file(&process, &mapping), -ESTALE);
	stat_differs = false;
}

/* On btrfs stat has another device than maps: then the kernel must know the build ID. */
static void another_device(void)
{
	CLEANUP_PROCESS
	struct process process = read_self();
	struct mapping mapping = *find_code(&process, another_device);
	unsigned char id[ELF_BUILD_ID_MAX];
	struct stat st;

	if (mapped_build_id__read(getpid(), &mapping, id) < 0) {
		tap_skip("this kernel, or linker, knows no build ID");
		return;
	}
	CHECK_INT(stat("/proc/self/exe", &st), 0);
	mapping.device++;
	mapping.end++; /* map_files has no such one */
	CHECK(is_file(process__open_file(&process, &mapping), &st));
	mapping.start++; /* nor has maps */
	CHECK_INT(process__open_file(&process, &mapping), -ESTALE);
	mapping.start--;
	mapping.inode++;
	CHECK_INT(process__open_file(&process, &mapping), -ESTALE);
	mapping.inode--;
	process.task = 0;
	CHECK_INT(process__open_file(&process, &mapping), -ESTALE);
}

/* The list names another file than is mapped there by now, as after exec(). */
static void something_else_is_mapped_by_now(void)
{
	struct replaced replaced;

	if (replace_file(&replaced)) {
		CLEANUP_PROCESS
		struct process process = read_self();
		const struct mapping *listed = find_code(&process, replaced.code);

		/* The old one has a path, so it is found all the same. */
		CHECK(mremap(replaced.replacement, replaced.size, replaced.size,
			     MREMAP_MAYMOVE | MREMAP_FIXED, replaced.code) == replaced.code);
		CHECK(is_file(process__open_file(&process, listed), &replaced.old));
		unlink(kept_path);
		CHECK_INT(process__open_file(&process, listed), -ENOENT);
		munmap(replaced.code, replaced.size);
	}
	remove_directory();
}

/* Without map_files a program is found that has no path any more. */
static void program_without_a_path(void)
{
	CLEANUP_PROCESS
	struct process process = read_self();
	struct mapping mapping = *find_code(&process, program_without_a_path);
	struct stat st;

	CHECK_INT(stat("/proc/self/exe", &st), 0);
	mapping.end++;
	mapping.path = "/memfd:program (deleted)";
	CHECK(is_file(process__open_file(&process, &mapping), &st));
	mapping.inode++;
	CHECK_INT(process__open_file(&process, &mapping), -ENOENT);
}

static void code_in_memory(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	CLEANUP_CLOSE int memory = memfd_create("test_process", MFD_CLOEXEC);
	CLEANUP_PROCESS
	struct process process = {0};
	struct stat st;
	void *code;

	CHECK_INT(ftruncate(memory, (off_t)size), 0);
	CHECK_INT(fstat(memory, &st), 0);
	code = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, memory, 0);
	if (code == MAP_FAILED || !sees_map_files()) {
		tap_skip("only root opens mapped files that have no name");
		return;
	}
	process = read_self();
	CHECK(is_file(process__open_file(&process, find_code(&process, code)), &st));
	munmap(code, size);
}

/* Map a page of a file of that content on a new mount, in a child: its PID, or -1. */
static pid_t start_mounted_child(const char *type, const char *options, char text)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char ready, *code, cwd[PATH_MAX];
	int ends[2];
	pid_t pid;

	CHECK(getcwd(cwd, sizeof(cwd)));
	CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		int fd;

		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount(type, directory, type, 0, options))
			_exit(1);
		fd = open(file_path, O_RDWR | O_CREAT, 0700);
		if (fd < 0 || ftruncate(fd, (off_t)size) || pwrite(fd, &text, 1, 0) != 1)
			_exit(1);
		code = mmap((void *)0x7000000, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			    fd, 0);
		if (code == MAP_FAILED || write(ends[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	if (read(ends[0], &ready, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ends[0]);
	return pid;
}

/* By its inode, and by its path where map_files does not help. */
static void check_mounted(pid_t pid, char text)
{
	CLEANUP_PROCESS
	struct process process = {0};

	CHECK_INT(process__read(&process, pid), 0);
	for (uint64_t more = 0; more < 2; more++) {
		struct mapping mapping = *find_code(&process, (void *)0x7000000);
		CLEANUP_CLOSE int fd = -1;
		char found = 0;

		mapping.end += more;
		fd = process__open_file(&process, &mapping);
		CHECK_INT(pread(fd, &found, 1, 0), 1);
		CHECK_INT(found, text);
	}
}

static void another_mount_namespace(void)
{
	pid_t pid;

	make_directory();
	close(open(file_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)); /* not this one */
	pid = start_mounted_child("tmpfs", "size=1m", 't');
	if (pid < 0)
		tap_skip("only root mounts");
	else
		check_mounted(pid, 't');
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	remove_directory();
}

static void container_image(void)
{
	char lower[PATH_MAX], upper[PATH_MAX], work[PATH_MAX], options[4 * PATH_MAX];
	pid_t pid;

	make_directory();
	snprintf(lower, sizeof(lower), "%s.lower", directory);
	snprintf(upper, sizeof(upper), "%s.upper", directory);
	snprintf(work, sizeof(work), "%s.work", directory);
	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s", lower, upper,
		 work);
	if (mkdir(lower, 0700) || mkdir(upper, 0700) || mkdir(work, 0700))
		tap_skip("folders cannot be made");
	pid = start_mounted_child("overlay", options, 'o');
	if (pid < 0)
		tap_skip("no overlay can be mounted here");
	else
		check_mounted(pid, 'o');
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	snprintf(options, sizeof(options), "rm -rf %s %s %s", lower, upper, work);
	CHECK_INT(system(options), 0);
	remove_directory();
}

/* ---- process__open_jit_map() ---- */

/* A process with only those parts set by which the map is found. */
static int open_jit_map(pid_t pid)
{
	const struct process process = {.pid = pid, .task = pid};

	return process__open_jit_map(&process);
}

/* Begin /tmp/perf-PID.map, or -1; path is where. */
static int create_jit_map(pid_t pid, char path[64])
{
	int fd;

	snprintf(path, 64, "/tmp/perf-%d.map", pid);
	unlink(path); /* of a process long ago */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		tap_skip("files cannot be made in /tmp");
	return fd;
}

static void jit_map_of_this_process(void)
{
	char path[64];
	CLEANUP_CLOSE int written = create_jit_map(getpid(), path);
	struct stat st;
	int fd;

	if (written < 0)
		return;
	CHECK_INT(fstat(written, &st), 0);
	fd = open_jit_map(getpid());
	CHECK_INT(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	CHECK_INT(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	CHECK(is_file(fd, &st));
	CHECK_INT(unlink(path), 0);
	CHECK_INT(open_jit_map(getpid()), -ENOENT);
}

/* Other things at the path of the map are not taken for it. */
static void what_is_no_jit_map(void)
{
	char path[64];
	CLEANUP_CLOSE int fd = create_jit_map(getpid(), path);

	if (fd < 0)
		return;
	/* Whoever waits for a FIFO's other end is killed. */
	alarm(10);
	unlink(path);
	CHECK_INT(mkfifo(path, 0600), 0);
	CHECK_INT(open_jit_map(getpid()), -EINVAL);
	unlink(path);
	CHECK_INT(mkdir(path, 0700), 0);
	CHECK_INT(open_jit_map(getpid()), -EINVAL);
	rmdir(path);
	CHECK_INT(symlink("/proc/self/exe", path), 0);
	CHECK_INT(open_jit_map(getpid()), -EINVAL);
	unlink(path);
	CHECK_INT(symlink("/dev/zero", path), 0);
	CHECK_INT(open_jit_map(getpid()), -EINVAL);
	unlink(path);
	alarm(0);
}

static void jit_maps_and_users(void)
{
	char path[64];
	CLEANUP_CLOSE int written = create_jit_map(getpid(), path);
	int fd;

	if (written < 0)
		return;
	if (geteuid() == 0) {
		CHECK_INT(fchown(written, 65534, 0), 0);
		fd = open_jit_map(getpid());
		CHECK_INT(fd, -EPERM);
		if (fd >= 0)
			close(fd);
	} else {
		tap_skip("only root can give files away");
	}
	unlink(path);
}

static void jit_maps_of_no_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
	CHECK_INT(open_jit_map(pid), -ESRCH);
	CHECK_INT(open_jit_map(INT_MAX), -ESRCH);
	CHECK_INT(open_jit_map(-1), -ESRCH);
}

/*
 * A child in namespaces of its own, with a /tmp of its own where prepare() makes its
 * map; -1 if that is not allowed.
 */
static pid_t start_prepared_child(unsigned long namespaces, bool (*prepare)(const char *path))
{
	int ends[2];
	char ready;
	pid_t pid;

	CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
	pid = (pid_t)syscall(SYS_clone, namespaces | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		char path[64];

		snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
		close(ends[0]);
		if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("none", "/tmp", "tmpfs", 0, NULL) || !prepare(path) ||
		    write(ends[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	if (pid > 0 && read(ends[0], &ready, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ends[0]);
	if (pid < 0)
		tap_skip("only root can have namespaces of its own");
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
}

static bool write_own_map(const char *path)
{
	CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return dprintf(fd, "0 10 %s\n", path) > 0;
}

/* The map that is found is the one that the process has written under the PID that it sees. */
static void check_namespaces(unsigned long namespaces, bool sees_another_pid)
{
	pid_t pid = start_prepared_child(namespaces, write_own_map);
	char expected[64], text[64] = "";
	int fd;

	if (pid < 0)
		return;
	fd = open_jit_map(pid);
	snprintf(expected, sizeof(expected), "0 10 /tmp/perf-%d.map\n", sees_another_pid ? 1 : pid);
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	CHECK_STR(text, expected);
	close(fd);
	end_child(pid);
}

static void jit_map_in_another_mount_namespace(void)
{
	check_namespaces(CLONE_NEWNS, false);
}

static void jit_map_in_another_pid_namespace(void)
{
	check_namespaces(CLONE_NEWNS | CLONE_NEWPID, true);
}

static bool bind_file_of_the_kernel(const char *path)
{
	return write_own_map(path) && mount("/proc/version", path, NULL, MS_BIND, NULL) == 0;
}

/* Anyone can mount a file of /proc there, in a namespace of their own. */
static void jit_map_that_the_kernel_makes(void)
{
	pid_t pid = start_prepared_child(CLONE_NEWNS, bind_file_of_the_kernel);

	if (pid < 0)
		return;
	CHECK_INT(open_jit_map(pid), -EINVAL);
	end_child(pid);
}

/* ---- process__open_path() ---- */

static void own_paths(void)
{
	struct stat st;

	make_directory();
	CHECK_INT(stat("/proc/self/exe", &st), 0);
	CHECK(is_file(process__open_own_path("/proc/self/exe"), &st));
	CHECK_INT(process__open_own_path("/nonexistent"), -ENOENT);
	CHECK_INT(process__open_own_path(""), -ENOENT);
	CHECK_INT(process__open_own_path("/dev/null"), -EINVAL);
	CHECK_INT(process__open_own_path(directory), -EINVAL);
	/* Whoever waits for a FIFO's other end is killed. */
	alarm(10);
	CHECK_INT(mkfifo(file_path, 0600), 0);
	CHECK_INT(process__open_own_path(file_path), -EINVAL);
	alarm(0);
	remove_directory();
}

static void paths_of_a_process(void)
{
	const struct process process = {.pid = getpid(), .task = getpid()};
	const struct process none = {.pid = INT_MAX, .task = INT_MAX};
	char too_long[PATH_MAX + 16];
	struct stat st;

	make_directory();
	close(open(file_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	CHECK_INT(stat(file_path, &st), 0);
	CHECK(is_file(process__open_path(&process, file_path), &st));
	unlink(file_path);
	CHECK_INT(process__open_path(&process, file_path), -ENOENT);
	/* Whoever waits for a FIFO's other end is killed. */
	alarm(10);
	CHECK_INT(mkfifo(file_path, 0600), 0);
	CHECK_INT(process__open_path(&process, file_path), -EINVAL);
	alarm(0);
	CHECK_INT(process__open_path(&process, directory), -EINVAL);
	CHECK_INT(process__open_path(&process, "/dev/null"), -EINVAL);
	CHECK_INT(process__open_path(&process, "/proc/version"), -EINVAL);
	CHECK_INT(process__open_path(&process, "/proc/self/exe"), -EXDEV);
	CHECK_INT(process__open_path(&none, "/proc/version"), -ENOENT);
	CHECK_INT(process__open_path(&none, "file"), -ENOENT);
	memset(too_long, '/', sizeof(too_long) - 1);
	too_long[sizeof(too_long) - 1] = '\0';
	CHECK_INT(process__open_path(&process, too_long), -ENAMETOOLONG);
	too_long[0] = 'a';
	CHECK_INT(process__open_path(&process, too_long), -ENAMETOOLONG);
	CHECK_INT(process__open_directory(&process, "/proc"), -EINVAL);
	CHECK_INT(process__open_directory(&process, "/dev/null"), -ENOTDIR);
	remove_directory();
}

/* A child whose root is directory, in the current directory given (of that root); or -1. */
static pid_t start_confined_child(const char *cwd)
{
	int ends[2];
	char ready;
	pid_t pid;

	CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (chroot(directory) || (cwd && chdir(cwd)) || write(ends[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	if (read(ends[0], &ready, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = -1;
		tap_skip("only root can have a root of its own");
	}
	close(ends[0]);
	return pid;
}

static void check_confined(const struct stat *st)
{
	static const char *const paths[] = {"/file",	"file",		 "./kept/../file",
					    "../file",	"../../../file", "/../file",
					    "kept/link"};
	pid_t pid = start_confined_child("/");
	struct process process = {.pid = pid, .task = pid};
	CLEANUP_CLOSE int folder = -1;

	if (pid < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		tap_check(is_file(process__open_path(&process, paths[i]), st), __FILE__, __LINE__,
			  "'%s' is another file", paths[i]);
	CHECK_INT(process__open_path(&process, "/proc/version"), -ENOENT);
	folder = process__open_directory(&process, "/kept");
	CHECK(folder >= 0 && faccessat(folder, "link", F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	end_child(pid);
	pid = start_confined_child("/kept");
	process = (struct process){.pid = pid, .task = pid};
	CHECK(is_file(process__open_path(&process, "link"), st));
	CHECK_INT(process__open_path(&process, "file"), -ENOENT);
	end_child(pid);
	/* The process stayed outside: a relative path means nothing to it that we could reach. */
	pid = start_confined_child(NULL);
	process = (struct process){.pid = pid, .task = pid};
	CHECK_INT(process__open_path(&process, file_path), -ENOENT);
	end_child(pid);
}

static void paths_in_another_root(void)
{
	char link_path[128];
	struct stat st;

	make_directory();
	close(open(file_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	CHECK_INT(stat(file_path, &st), 0);
	CHECK_INT(mkdir(kept_path, 0700), 0);
	snprintf(link_path, sizeof(link_path), "%s/link", kept_path);
	CHECK_INT(symlink("/file", link_path), 0);
	check_confined(&st);
	unlink(link_path);
	rmdir(kept_path);
	remove_directory();
}

/* A root that cannot be opened for want of a descriptor may be any, and so is not ours. */
static void root_without_descriptors(void)
{
	struct root_identity ours, found = {0};
	struct rlimit kept, none;

	CHECK_INT(getrlimit(RLIMIT_NOFILE, &kept), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = kept.rlim_max};
	CHECK_INT(rooted__root_of(getpid(), &ours), ROOTED_OURS);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
	CHECK_INT(rooted__root_of(getpid(), &found), -EMFILE);
	CHECK_INT(rooted__root_of(0, &found), ROOTED_OURS);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &kept), 0);
	CHECK(root_identity__equal(&found, &ours));
}

static const struct tap_test tests[] = {
	{"this process has its mappings and its start time", this_process},
	{"a comm that looks like a part of stat does not deceive", names_that_look_like_stat},
	{"a process that has ended is -ESRCH, a zombie too", processes_that_have_ended},
	{"a child has a start time of its own", a_child_started_later},
	{"a process whose first thread has ended lives on", first_thread_that_has_ended},
	{"the file of this program is opened", own_program},
	{"a mapped file that was deleted is opened", deleted_file},
	{"a file that has taken the name of a mapped one is not opened", replaced_file},
	{"a path serves only with the inode that was mapped", path_needs_its_inode},
	{"what is no regular file is refused, and not waited for", what_is_no_regular_file},
	{"a file of the same inode number on another device is not opened",
	 same_inode_number_elsewhere},
	{"on another device the kernel must know its build ID", another_device},
	{"the kernel shows another device and inode for mapped files", stat_differs_from_maps},
	{"something else is mapped there by now", something_else_is_mapped_by_now},
	{"a program needs no path", program_without_a_path},
	{"code in memory that has no path is opened", code_in_memory},
	{"a file on a mount of its process is opened, not its namesake", another_mount_namespace},
	{"a file of a container's image is opened", container_image},
	{"the JIT map of a process is opened", jit_map_of_this_process},
	{"what is no regular file is no JIT map, and not waited for", what_is_no_jit_map},
	{"a JIT map of another user is not opened", jit_maps_and_users},
	{"what is no process has no JIT map", jit_maps_of_no_process},
	{"the JIT map of a process with a /tmp of its own", jit_map_in_another_mount_namespace},
	{"the JIT map of a process that sees itself as PID 1", jit_map_in_another_pid_namespace},
	{"a file that the kernel makes is no JIT map", jit_map_that_the_kernel_makes},
	{"what a path names is opened only if it is a regular file", own_paths},
	{"so it is in the root of a process, if the kernel does not make it", paths_of_a_process},
	{"a path, absolute or relative, does not lead out of the root of a process",
	 paths_in_another_root},
	{"without descriptors no root is taken for ours", root_without_descriptors},
};

int main(void)
{
	return TAP_RUN(tests);
}
