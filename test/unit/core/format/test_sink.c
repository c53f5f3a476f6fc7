// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/sink.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/error.h"
#include "test/unit/tap.h"

/* Each test is in a new folder, which is empty. */
static void in_folder(void (*test)(void))
{
	char folder[] = "/tmp/test_sink-XXXXXX";

	if (!CHECK(mkdtemp(folder)) || !CHECK(!chdir(folder)))
		return;
	test();
	unlink("report");
	unlink("target");
	CHECK(!chdir("/"));
	CHECK(!rmdir(folder));
}

/* Files in the folder, also those with a dot. */
static int count_files(void)
{
	DIR *folder = opendir(".");
	const struct dirent *entry;
	int nr = 0;

	while (folder && (entry = readdir(folder)))
		nr += !!strcmp(entry->d_name, ".") && !!strcmp(entry->d_name, "..");
	if (folder)
		closedir(folder);
	return nr;
}

static void check_content(const char *path, const char *expected)
{
	char text[64] = "";
	FILE *in = fopen(path, "r");

	if (!CHECK(in))
		return;
	text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
	fclose(in);
	CHECK_STR(text, expected);
}

static mode_t mode_of(const char *path)
{
	struct stat st = {0};

	CHECK(!lstat(path, &st));
	return st.st_mode & 07777;
}

/* Returns how many files there are while it is written. */
static int write_report(const char *text)
{
	struct sink sink = {0};
	struct error error = {{0}};
	int nr = -1;

	if (CHECK_INT(sink__open(&sink, "report", &error), 0)) {
		fputs(text, sink.out);
		fflush(sink.out);
		nr = count_files();
		CHECK_INT(sink__finish(&sink, &error), 0);
	}
	sink__release(&sink);
	return nr;
}

/* Whether the file system of /tmp can have files without a name. */
static bool has_nameless(void)
{
	int fd = open(".", O_TMPFILE | O_WRONLY, 0600);

	if (fd < 0)
		tap_skip("the file system of /tmp has no O_TMPFILE");
	else
		close(fd);
	return fd >= 0;
}

static void no_name(void)
{
	if (!has_nameless())
		return;
	umask(022);
	CHECK_INT(write_report("one"), 0);
	CHECK_INT(count_files(), 1);
	check_content("report", "one");
	CHECK_INT(mode_of("report"), 0644);
}

static void check_place(void)
{
	struct error error = {{0}};

	CHECK_INT(sink__check_place("report", &error), 0);
	CHECK_INT(sink__check_place("nowhere/report", &error), -ENOENT);
	CHECK_STR(error.text, "cannot write 'nowhere/report': No such file or directory");
	CHECK_INT(count_files(), 0);
}

static void replaces(void)
{
	write_report("one");
	CHECK(!chmod("report", 0604));
	write_report("second");
	CHECK_INT(count_files(), 1);
	check_content("report", "second");
	CHECK_INT(mode_of("report"), 0604);
}

/* Who reads the file that is replaced has all of it. */
static void replaced_stays(void)
{
	FILE *in;
	char text[16] = "";

	write_report("one");
	in = fopen("report", "r");
	write_report("second");
	if (CHECK(in)) {
		CHECK(fgets(text, sizeof(text), in));
		fclose(in);
	}
	CHECK_STR(text, "one");
}

static void link_stays(void)
{
	FILE *target = fopen("target", "w");

	if (!CHECK(target) || !CHECK(!symlink("target", "report")))
		return;
	fclose(target);
	CHECK_INT(write_report("one"), 2);
	CHECK_INT(count_files(), 2);
	check_content("target", "one");
}

/* Something is put there while it is written: as if it had been there before. */
static void meanwhile(void)
{
	struct sink sink = {0};
	struct error error = {{0}};

	if (!CHECK_INT(sink__open(&sink, "report", &error), 0))
		return;
	fputs("one", sink.out);
	CHECK(!symlink("target", "report"));
	CHECK_INT(sink__finish(&sink, &error), 0);
	sink__release(&sink);
	CHECK_INT(count_files(), 1);
	check_content("report", "one");
}

/* A folder is in its place: the result is not lost. */
static void kept(void)
{
	struct sink sink = {0};
	struct error error = {{0}};
	char *name;

	if (!CHECK_INT(sink__open(&sink, "report", &error), 0))
		return;
	fputs("one", sink.out);
	CHECK(!mkdir("report", 0700));
	CHECK_INT(sink__finish(&sink, &error), -EISDIR);
	sink__release(&sink);
	CHECK(!rmdir("report"));
	CHECK_INT(count_files(), 1);
	name = strstr(error.text, "; the result is in '");
	if (!CHECK(name))
		return;
	name += strlen("; the result is in '");
	name[strcspn(name, "'")] = '\0';
	check_content(name, "one");
	unlink(name);
}

static void given_up(void)
{
	struct sink sink = {0};
	struct error error = {{0}};

	if (CHECK_INT(sink__open(&sink, "report", &error), 0))
		fputs("one", sink.out);
	sink__release(&sink);
	CHECK_INT(count_files(), 0);
}

/* As on a file system that has no O_TMPFILE, such as vfat. */
static bool refuse_nameless(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = ARRAY_SIZE(code), .filter = code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* The last test: the filter stays. */
static void temporary(void)
{
	if (!CHECK(refuse_nameless()))
		return;
	CHECK_INT(write_report("one"), 1);
	CHECK_INT(count_files(), 1);
	CHECK_INT(write_report("second"), 2);
	CHECK_INT(count_files(), 1);
	check_content("report", "second");
	unlink("report");
	given_up();
	check_place();
}

static const struct tap_test tests[] = {
	{"a new file has no name at all until it is complete", no_name},
	{"to look whether a place can be written to leaves nothing", check_place},
	{"a file is replaced by a new one with its mode", replaces},
	{"who reads a file that is replaced has all of it", replaced_stays},
	{"what a link leads to is written in place", link_stays},
	{"what comes to be there meanwhile is replaced", meanwhile},
	{"where nothing can be replaced the result is kept", kept},
	{"what is given up leaves nothing", given_up},
	{"where no file can be without a name it has a temporary one", temporary},
};

int main(void)
{
	return TAP_RUN_IN(in_folder, tests);
}
