// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/find/binary.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/elf/machine.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "test/unit/elf_image.h"
#include "test/unit/tap.h"

#define CLEANUP_BINARY CLEANUP(binary__close)

/* ---- a folder for each test, and files in it ---- */

static char folder[PATH_MAX];

static void make_folder(void)
{
	char cwd[PATH_MAX - 64];

	CHECK(getcwd(cwd, sizeof(cwd)));
	snprintf(folder, sizeof(folder), "%s/test_binary.XXXXXX", cwd);
	CHECK(mkdtemp(folder));
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_folder(void)
{
	CHECK_INT(nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* A path in the folder, until the next call. */
static const char *in_folder(const char *path)
{
	static char whole[2 * PATH_MAX];

	snprintf(whole, sizeof(whole), "%s%s", folder, path);
	return whole;
}

/* A new file in the folder, and the folders that it lies in. */
static void write_file(const char *path, const void *bytes, size_t size, mode_t mode)
{
	char whole[2 * PATH_MAX];
	CLEANUP_CLOSE int fd = -1;

	strcpy(whole, in_folder(path));
	for (char *slash = whole + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(whole, 0700);
		*slash = '/';
	}
	fd = open(whole, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
}

static void write_text(const char *path)
{
	static const char text[] =
		"/* GNU ld script, and more than the header of an ELF file has */\n";

	write_file(path, text, sizeof(text) - 1, 0700);
}

/* An ELF file for that machine, with a build ID of so many bytes, counted up from first. */
static void write_elf(const char *path, mode_t mode, uint16_t machine, unsigned char first,
		      size_t size)
{
	unsigned char id[128], notes[256];
	static const struct image_symbol symbol = {"f", IMAGE_TEXT_ADDRESS, 8, GLOBAL_FUNCTION, 0};
	struct image_spec spec = {.tables = {{SHT_SYMTAB, &symbol, 1}}, .notes = notes};
	struct elf_image image;

	for (size_t i = 0; i < size; i++)
		id[i] = (unsigned char)(first + i);
	spec.notes_size = image_note__append(notes, 0, NT_GNU_BUILD_ID, "GNU", id, size);
	image = elf_image__make(&spec);
	elf_image__ehdr(&image)->e_machine = machine;
	write_file(path, image.bytes, image.size, mode);
	elf_image__free(&image);
}

static void write_library(const char *path)
{
	write_elf(path, 0600, MACHINE_ELF, 1, 4);
}

static void write_program(const char *path)
{
	write_elf(path, 0700, MACHINE_ELF, 1, 4);
}

/* A cache of the loader with one entry. */
static void write_cache(const char *soname, const char *path)
{
	struct {
		char magic[20];
		uint32_t nr, unused[6];
		uint32_t flags, soname, path, unused_too;
		uint64_t hwcap;
		char strings[2][64];
	} cache = {.nr = 1, .flags = 3 | MACHINE_LD_CACHE, .soname = 72, .path = 72 + 64};

	memcpy(cache.magic, "glibc-ld.so.cache1.1", sizeof(cache.magic));
	strcpy(cache.strings[0], soname);
	strcpy(cache.strings[1], path);
	write_file("/etc/ld.so.cache", &cache, sizeof(cache), 0600);
}

/* ---- what is opened ---- */

/* Check that name opens the file that path leads to, and that its path is said. */
static void check_opens(const char *name, pid_t pid, const char *path, const char *said, int line)
{
	CLEANUP_BINARY struct binary binary = {.fd = -1};
	struct error error = {""};
	struct stat expected, st;
	int err = binary__open(&binary, name, pid, &error);

	if (!tap_check(err == 0, __FILE__, line, "'%s': %s", name, error.text))
		return;
	CHECK_INT(stat(path, &expected), 0);
	CHECK_INT(fstat(binary.fd, &st), 0);
	tap_check(st.st_ino == expected.st_ino && st.st_dev == expected.st_dev, __FILE__, line,
		  "'%s' is %s, not %s", name, binary.path, path);
	tap_check_str(binary.path, said, __FILE__, line, name);
	CHECK(fcntl(binary.fd, F_GETFD) & FD_CLOEXEC);
}

#define CHECK_OPENS(name, pid, path, said) check_opens(name, pid, path, said, __LINE__)

static void check_fails(const char *name, pid_t pid, int err, const char *message, int line)
{
	struct binary binary = {.fd = 77};
	struct error error = {""};

	tap_check_int(binary__open(&binary, name, pid, &error), err, __FILE__, line, name);
	tap_check_str(error.text, message, __FILE__, line, name);
	CHECK_INT(binary.fd, 77);
}

#define CHECK_FAILS(name, pid, err, message) check_fails(name, pid, err, message, __LINE__)

/* ---- on the host ---- */

static void paths(void)
{
	char path[PATH_MAX], message[2 * PATH_MAX];

	make_folder();
	write_elf("/any_machine", 0600, EM_NONE, 1, 4);
	write_text("/text");
	strcpy(path, in_folder("/any_machine"));
	CHECK_OPENS(path, 0, path, path);
	snprintf(message, sizeof(message), ".%s", strrchr(folder, '/'));
	strcat(message, "/any_machine");
	CHECK_OPENS(message, 0, path, message);
	CHECK_OPENS("/proc/self/exe", 0, "/proc/self/exe", "/proc/self/exe");
	strcpy(path, "/dev/null");
	CHECK_FAILS(path, 0, -EINVAL, "'/dev/null' is no regular file");
	CHECK_FAILS("/", 0, -EINVAL, "'/' is no regular file");
	CHECK_FAILS("/nonexistent", 0, -ENOENT, "'/nonexistent': No such file or directory");
	CHECK_FAILS("./nonexistent", 0, -ENOENT, "'./nonexistent': No such file or directory");
	CHECK_FAILS("/proc/self/status", 0, -ENOEXEC, "'/proc/self/status' is no ELF file");
	remove_folder();
}

static void what_would_block(void)
{
	char path[PATH_MAX], message[2 * PATH_MAX];

	make_folder();
	strcpy(path, in_folder("/fifo"));
	/* Whoever waits for a FIFO's other end is killed. */
	alarm(10);
	CHECK_INT(mkfifo(path, 0700), 0);
	snprintf(message, sizeof(message), "'%.*s' is no regular file", PATH_MAX - 1, path);
	CHECK_FAILS(path, 0, -EINVAL, message);
	CHECK_INT(setenv("PATH", folder, 1), 0);
	CHECK_FAILS(
		"fifo", 0, -ENOENT,
		"'fifo' is no library that the loader finds, and no program in PATH; give a path");
	alarm(0);
	remove_folder();
}

static void names_that_nothing_has(void)
{
	static const char *const names[] = {"tracekit_nonexistent", "", ".", "..", "*", "c*",
					    "libc.so.6.6.6"};
	char *endless = malloc(100000);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char message[256];

		snprintf(message, sizeof(message),
			 "'%s' is no library that the loader finds, and no program in PATH; give a "
			 "path",
			 names[i]);
		CHECK_FAILS(names[i], 0, -ENOENT, message);
	}
	memset(endless, 'x', 99999);
	endless[99999] = '\0';
	CHECK_INT(binary__open(&(struct binary){.fd = -1}, endless, 0, &(struct error){""}),
		  -ENOENT);
	free(endless);
}

static void c_is_libc(void)
{
	CLEANUP_BINARY struct binary binary = {.fd = -1};
	CLEANUP_BINARY struct binary same = {.fd = -1};
	struct error error = {""};
	const char *file;

	if (!CHECK_INT(binary__open(&binary, "c", 0, &error), 0))
		return;
	file = strrchr(binary.path, '/') + 1;
	CHECK(!strncmp(file, "libc", 4) || !strncmp(file, "ld-musl-", 8));
	CHECK_INT(binary__open(&same, file, 0, &error), 0);
	CHECK_STR(same.path, binary.path);
}

static void programs_in_path(void)
{
	char path[8 * PATH_MAX], expected[2 * PATH_MAX];

	make_folder();
	write_text("/scripts/tracekit_tool");
	write_elf("/data/tracekit_tool", 0600, MACHINE_ELF, 1, 4);
	write_program("/bin/tracekit_tool");
	write_program("/later/tracekit_tool");
	strcpy(expected, in_folder("/bin/tracekit_tool"));
	snprintf(path, sizeof(path), ":%s/nonexistent:%s/scripts::%s/data:%s/bin:%s/later:", folder,
		 folder, folder, folder, folder);
	CHECK_INT(setenv("PATH", path, 1), 0);
	CHECK_OPENS("tracekit_tool", 0, expected, expected);
	CHECK_INT(setenv("PATH", "", 1), 0);
	CHECK_INT(binary__open(&(struct binary){.fd = -1}, "tracekit_tool", 0, &(struct error){""}),
		  -ENOENT);
	remove_folder();
}

/* "m" is libm; usdt_program is linked with it. */
static void programs_and_libraries_of_one_name(void)
{
	CLEANUP_BINARY struct binary binary = {.fd = -1};
	char expected[2 * PATH_MAX];

	make_folder();
	CHECK_INT(setenv("PATH", folder, 1), 0);
	CHECK_INT(symlink(FIXTURES "/usdt_program", in_folder("/m")), 0);
	CHECK_INT(binary__open(&binary, "m", 0, &(struct error){""}), 0);
	CHECK(binary.path && strstr(binary.path, "/libm.so"));
	CHECK_INT(unlink(in_folder("/m")), 0);
	write_program("/m");
	strcpy(expected, in_folder("/m"));
	CHECK_OPENS("m", 0, expected, expected);
	remove_folder();
}

/* ---- what a process has mapped ---- */

/* Map a page of a new file; NULL if that is not allowed. */
static void *map_library(const char *path)
{
	CLEANUP_CLOSE int fd = -1;
	void *code;

	write_library(path);
	fd = open(in_folder(path), O_RDONLY | O_CLOEXEC);
	code = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED)
		tap_skip("this directory allows no executable files");
	return code == MAP_FAILED ? NULL : code;
}

static void check_mapped(const char *path, const char *name)
{
	void *code = map_library(path);
	char whole[2 * PATH_MAX];

	if (!code)
		return;
	strcpy(whole, in_folder(path));
	CHECK_OPENS(name, getpid(), whole, whole);
	munmap(code, 1);
	CHECK_INT(binary__open(&(struct binary){.fd = -1}, name, getpid(), &(struct error){""}),
		  -ENOENT);
}

static void mapped_libraries(void)
{
	make_folder();
	check_mapped("/libtracekit_a.so", "tracekit_a");
	check_mapped("/libtracekit_b.so.1.2", "tracekit_b");
	check_mapped("/libtracekit_c-2.31.so", "tracekit_c");
	check_mapped("/tracekit_d", "tracekit_d");
	check_mapped("/libtracekit_e.so.1", "libtracekit_e.so.1");
	remove_folder();
}

static void mapped_files_that_are_not_meant(void)
{
	static const char *const files[] = {"/libtracekit_ax.so",  "/libtracekit_a.sox",
					    "/libtracekit_a-x.so", "/libtracekit_a-1.so.1",
					    "/tracekit_a.so",	   "/libtracekit_a"};
	char message[256];

	make_folder();
	snprintf(message, sizeof(message),
		 "'tracekit_a' is nothing that process %d has mapped, no library that its loader "
		 "finds, and no program in PATH; give a path",
		 getpid());
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		void *code = map_library(files[i]);

		if (!code)
			break;
		CHECK_FAILS("tracekit_a", getpid(), -ENOENT, message);
		munmap(code, 1);
	}
	remove_folder();
}

static void processes_that_have_ended(void)
{
	char message[64];
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
	snprintf(message, sizeof(message), "process %d has ended", pid);
	CHECK_FAILS("c", pid, -ESRCH, message);
	CHECK_FAILS("/bin/sh", pid, -ESRCH, message);
}

/* ---- in another root ---- */

/* A child whose root is the folder, and its current directory there; or -1. */
static pid_t start_confined_child(void)
{
	int ends[2];
	char ready;
	pid_t pid;

	CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (chroot(folder) || chdir("/usr") || write(ends[1], "r", 1) != 1)
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

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
}

/* Check that name opens the file at path of the folder, which the process calls the same. */
static void check_confined(const char *name, pid_t pid, const char *path)
{
	char whole[2 * PATH_MAX];

	strcpy(whole, in_folder(path));
	check_opens(name, pid, whole, path, __LINE__);
}

static void names_in_another_root(void)
{
	char message[256];
	pid_t pid;

	make_folder();
	/* A library only in the cache; another one in the cache, and in a folder as well. */
	write_library("/opt/libtracekit_a.so.3");
	write_library("/usr/lib/libtracekit_a.so.4");
	write_cache("libtracekit_a.so.3", "/opt/libtracekit_a.so.3");
	/* A linker script, old versions, another machine: the newest that fits. */
	write_text("/usr/lib/libtracekit_b.so");
	write_library("/usr/lib/libtracekit_b.so.9");
	write_library("/usr/lib/libtracekit_b.so.10");
	write_elf("/usr/lib/libtracekit_b.so.11", 0600, EM_NONE, 1, 4);
	write_text("/usr/lib/libtracekit_c.so");
	/* A link that would lead out of the root. */
	CHECK_INT(symlink("/opt/libtracekit_a.so.3", in_folder("/usr/lib/libtracekit_l.so")), 0);
	write_library("/lib/ld-musl-" MACHINE_MUSL ".so.1");
	write_program("/tools/tracekit_tool");
	write_program("/tools/tracekit_b");
	CHECK_INT(setenv("PATH", "/nonexistent:/tools", 1), 0);
	pid = start_confined_child();
	if (pid > 0) {
		check_confined("tracekit_a", pid, "/opt/libtracekit_a.so.3");
		check_confined("libtracekit_a.so.3", pid, "/opt/libtracekit_a.so.3");
		check_confined("libtracekit_a.so.4", pid, "/usr/lib/libtracekit_a.so.4");
		check_confined("tracekit_b", pid, "/tools/tracekit_b");
		CHECK_INT(unlink(in_folder("/tools/tracekit_b")), 0);
		check_confined("tracekit_b", pid, "/usr/lib/libtracekit_b.so.10");
		check_confined("libtracekit_b.so.9", pid, "/usr/lib/libtracekit_b.so.9");
		check_confined("tracekit_tool", pid, "/tools/tracekit_tool");
		check_opens("tracekit_l", pid, in_folder("/opt/libtracekit_a.so.3"),
			    "/usr/lib/libtracekit_l.so", __LINE__);
		snprintf(message, sizeof(message),
			 "'tracekit_c' is nothing that process %d has mapped, no library that its "
			 "loader finds, and no program in PATH; give a path",
			 pid);
		CHECK_FAILS("tracekit_c", pid, -ENOENT, message);
		end_child(pid);
	}
	remove_folder();
}

static void paths_in_another_root(void)
{
	char message[256];
	pid_t pid;

	make_folder();
	write_library("/usr/lib/libtracekit_a.so");
	write_text("/usr/text");
	pid = start_confined_child();
	if (pid > 0) {
		check_confined("/usr/lib/libtracekit_a.so", pid, "/usr/lib/libtracekit_a.so");
		check_opens("lib/libtracekit_a.so", pid, in_folder("/usr/lib/libtracekit_a.so"),
			    "lib/libtracekit_a.so", __LINE__);
		snprintf(message, sizeof(message), "'/usr/text' in process %d is no ELF file", pid);
		CHECK_FAILS("/usr/text", pid, -ENOEXEC, message);
		snprintf(message, sizeof(message), "'/usr' in process %d is no regular file", pid);
		CHECK_FAILS("/usr", pid, -EINVAL, message);
		snprintf(message, sizeof(message),
			 "'/proc/self/exe' in process %d: No such file or directory", pid);
		CHECK_FAILS("/proc/self/exe", pid, -ENOENT, message);
		end_child(pid);
	}
	remove_folder();
}

/* ---- debug files ---- */

#define DEBUG_FILES "/usr/lib/debug/.build-id"

static int open_debug(const char *path, pid_t pid)
{
	CLEANUP_BINARY struct binary binary = {.fd = -1};
	struct error error;

	CHECK_INT(binary__open(&binary, path, pid, &error), 0);
	return binary__open_debug(&binary, pid);
}

static void debug_files(void)
{
	struct stat expected, st = {0};
	pid_t pid;

	make_folder();
	write_elf("/usr/good", 0600, MACHINE_ELF, 0xee, 4);
	write_elf(DEBUG_FILES "/ee/eff0f1.debug", 0600, MACHINE_ELF, 0xee, 4);
	write_elf("/usr/other_id", 0600, MACHINE_ELF, 0xdd, 4);
	write_elf(DEBUG_FILES "/dd/dedfe0.debug", 0600, MACHINE_ELF, 0xdd, 5);
	write_elf("/usr/longest", 0600, MACHINE_ELF, 0, 64);
	write_elf("/usr/too_long", 0600, MACHINE_ELF, 0, 65);
	write_elf("/usr/too_short", 0600, MACHINE_ELF, 0xee, 1);
	write_elf("/usr/empty", 0600, MACHINE_ELF, 0xee, 0);
	write_elf("/usr/text", 0600, MACHINE_ELF, 0xcc, 4);
	write_text(DEBUG_FILES "/cc/cdcecf.debug");
	CHECK_INT(stat(in_folder(DEBUG_FILES "/ee/eff0f1.debug"), &expected), 0);
	pid = start_confined_child();
	if (pid > 0) {
		CLEANUP_CLOSE int fd = open_debug("/usr/good", pid);

		CHECK_INT(fstat(fd, &st), 0);
		CHECK(st.st_ino == expected.st_ino && st.st_dev == expected.st_dev);
		CHECK_INT(open_debug("/usr/other_id", pid), -ENOENT);
		CHECK_INT(open_debug("/usr/longest", pid), -ENOENT);
		CHECK_INT(open_debug("/usr/too_long", pid), -ENOENT);
		CHECK_INT(open_debug("/usr/too_short", pid), -ENOENT);
		CHECK_INT(open_debug("/usr/empty", pid), -ENOENT);
		CHECK_INT(open_debug("/usr/text", pid), -ENOENT);
		end_child(pid);
	}
	/* The host has none of these. */
	CHECK_INT(open_debug(in_folder("/usr/good"), 0), -ENOENT);
	remove_folder();
}

static const struct tap_test tests[] = {
	{"a path is opened, or a line says why not", paths},
	{"what would block is not opened", what_would_block},
	{"a name that nothing has", names_that_nothing_has},
	{"'c' is libc", c_is_libc},
	{"programs are found in PATH; scripts and what is not executable are not",
	 programs_in_path},
	{"a library comes before a program that is linked with it, and no other",
	 programs_and_libraries_of_one_name},
	{"what a process has mapped comes first", mapped_libraries},
	{"what only looks like the name is not taken", mapped_files_that_are_not_meant},
	{"a process that has ended has nothing", processes_that_have_ended},
	{"libraries and programs in another root", names_in_another_root},
	{"paths in another root", paths_in_another_root},
	{"a debug file is opened if its build ID is the same", debug_files},
};

int main(void)
{
	return TAP_RUN(tests);
}
