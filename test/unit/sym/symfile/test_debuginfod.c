// SPDX-License-Identifier: GPL-2.0-or-later
/* With scripts in the place of the command. */
#include "sym/symfile/debuginfod.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/child/deadline.h"
#include "sym/child/supervisor.h"
#include "sym/elf/file.h"
#include "sym/symfile/debug_file.h"
#include "sym/types.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"
#include "test/unit/elf_image.h"
#include "test/unit/tap.h"

#define CLEANUP_SERVER CLEANUP(debuginfod__release)

static const struct debug_id some_id = {.bytes = {0xab, 0x01, 0xcd}, .size = 3};

static char folder[PATH_MAX - 64], whole_path[PATH_MAX];

static const char *in_folder(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void remove_command(void)
{
	unlink(in_folder("debuginfod-find"));
	unlink(in_folder("log"));
}

/* The body of the script; each call leaves a line in the log. */
static void make_command(const char *body)
{
	FILE *file;

	remove_command();
	file = fopen(in_folder("debuginfod-find"), "we");
	if (!CHECK(file))
		return;
	fprintf(file, "#!/bin/sh\necho \"$@\" >>%s/log\n%s\n", folder, body);
	CHECK_INT(fclose(file), 0);
	CHECK_INT(chmod(in_folder("debuginfod-find"), 0700), 0);
}

static void check_log(const char *expected, int line)
{
	CLEANUP_FCLOSE FILE *file = fopen(in_folder("log"), "re");
	char text[256] = "";

	if (file)
		text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	tap_check_str(text, expected, __FILE__, line, "log");
}

#define CHECK_LOG(expected) check_log(expected, __LINE__)

/* Nothing of ours is left running, or waits to be reaped. */
static void check_no_children(void)
{
	CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_INT(errno, ECHILD);
}

static int find_once(const struct supervisor *supervisor, char path[PATH_MAX])
{
	CLEANUP_SERVER
	struct debuginfod server = {.supervisor = supervisor};
	int err;

	alarm(20);
	err = debuginfod__find(&server, &some_id, path);
	alarm(0);
	check_no_children();
	return err;
}

static void path_that_it_prints(void)
{
	char path[PATH_MAX] = "";

	make_command("echo /cache/$2/debuginfo");
	CHECK_INT(find_once(NULL, path), 0);
	CHECK_STR(path, "/cache/ab01cd/debuginfo");
	CHECK_LOG("debuginfo ab01cd\n");
}

/* The command neither sees our open files nor writes where we do. */
static void what_it_inherits(void)
{
	CLEANUP_CLOSE __attribute__((unused)) int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char path[PATH_MAX] = "";

	make_command("echo nothing of this >&2\n"
		     "read line && exit 1\n"
		     "for fd in /proc/self/fd/*; do\n"
		     "	case $(readlink $fd) in */zero) exit 1 ;; esac\n"
		     "done\n"
		     "echo /good");
	CHECK_INT(find_once(NULL, path), 0);
	CHECK_STR(path, "/good");
}

/* The command is where others find it, too, which the build folder need not be. */
static void user_behind_sudo(void)
{
	char path[PATH_MAX] = "", before[sizeof(folder)];

	if (geteuid()) {
		tap_skip("only root can become somebody else");
		return;
	}
	memcpy(before, folder, sizeof(before));
	strcpy(folder, "/tmp/test_debuginfod.XXXXXX");
	if (!CHECK(mkdtemp(folder)))
		return;
	setenv("PATH", in_folder(":/usr/bin:/bin"), 1);
	make_command("echo /user/$(id -u)/$(id -g)");
	CHECK_INT(chmod(folder, 0755), 0);
	CHECK_INT(chmod(in_folder("debuginfod-find"), 0755), 0);
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65533", 1);
	CHECK_INT(find_once(NULL, path), 0);
	CHECK_STR(path, "/user/65534/65533");
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	CHECK_INT(find_once(NULL, path), 0);
	CHECK_STR(path, "/user/0/0");
	remove_command();
	rmdir(folder);
	memcpy(folder, before, sizeof(folder));
	setenv("PATH", whole_path, 1);
}

static void what_is_no_path(void)
{
	static const char *const bodies[] = {
		"exit 1",
		"echo /path; exit 1",
		"kill -9 $$",
		"true",
		"echo",
		"echo relative/path",
		"printf /no/end/of/line",
		"printf '/nul\\000/path\\n'",
	};
	char path[PATH_MAX] = "as it was";

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		make_command(bodies[i]);
		tap_check_int(find_once(NULL, path), -ENOENT, __FILE__, __LINE__, bodies[i]);
		CHECK_STR(path, "as it was");
	}
	make_command("exec cat /dev/zero");
	CHECK_INT(find_once(NULL, path), -E2BIG);
	/* No command at all. */
	make_command("exit");
	CHECK_INT(chmod(in_folder("debuginfod-find"), 0), 0);
	CHECK_INT(setenv("PATH", folder, 1), 0);
	CHECK_INT(find_once(NULL, path), -ENOENT);
	CHECK_INT(setenv("PATH", whole_path, 1), 0);
}

static void asked_once(void)
{
	CLEANUP_SERVER struct debuginfod server = {.supervisor = NULL};
	const struct debug_id other = {.bytes = {0xab, 0x01}, .size = 2}, none = {.size = 0};
	char path[PATH_MAX];

	make_command("exit 1");
	CHECK_INT(debuginfod__find(&server, &some_id, path), -ENOENT);
	CHECK_INT(debuginfod__find(&server, &some_id, path), -ENOENT);
	CHECK_LOG("debuginfo ab01cd\n");
	CHECK_INT(debuginfod__find(&server, &other, path), -ENOENT);
	CHECK_INT(debuginfod__find(&server, &none, path), -ENOENT);
	CHECK_LOG("debuginfo ab01cd\ndebuginfo ab01\n");
}

/* Neither is a file asked for that was found, even with no time left: that takes none. */
static void found_once(void)
{
	const struct avoid_list avoided = {.nr = 0};
	struct progress progress = {.server_ms = 0};
	const struct supervisor supervisor = {.avoided = &avoided, .progress = &progress};
	CLEANUP_SERVER struct debuginfod server = {.supervisor = &supervisor};
	const struct debug_id missing = {.bytes = {0xab, 0x01}, .size = 2};
	const struct debug_id new = {.bytes = {0xab, 0x02}, .size = 2};
	char path[PATH_MAX] = "";

	make_command("test $2 = ab01cd && echo /cache/$2");
	CHECK_INT(debuginfod__find(&server, &some_id, path), 0);
	CHECK_INT(debuginfod__find(&server, &missing, path), -ENOENT);
	progress.server_ms = DEBUGINFOD_MS;
	path[0] = '\0';
	CHECK_INT(debuginfod__find(&server, &some_id, path), 0);
	CHECK_STR(path, "/cache/ab01cd");
	CHECK_INT(debuginfod__find(&server, &missing, path), -ENOENT);
	CHECK_INT(debuginfod__find(&server, &new, path), -ETIME);
	CHECK_INT(debuginfod__find(&server, &new, path), -ETIME);
	CHECK_INT(progress.server_ms, DEBUGINFOD_MS);
	CHECK_LOG("debuginfo ab01cd\ndebuginfo ab01\n");
}

static void slow_server(void)
{
	const struct avoid_list avoided = {.nr = 0};
	struct progress progress = {.server_ms = DEBUGINFOD_MS - 300};
	const struct supervisor supervisor = {.avoided = &avoided, .progress = &progress};
	uint64_t began = monotonic_now(), took;
	char path[PATH_MAX];

	make_command("exec sleep 60");
	CHECK_INT(find_once(&supervisor, path), -ETIME);
	took = (monotonic_now() - began) / 1000000;
	CHECK(took >= 250 && took < 5000);
	/* Whoever watches saw it every 50 ms. */
	CHECK(progress.steps >= 3);
	CHECK(progress.server_ms >= DEBUGINFOD_MS);
	/* There is no time for another one. */
	make_command("echo /path");
	CHECK_INT(find_once(&supervisor, path), -ETIME);
	CHECK_LOG("");
	/* Closing its output ends nothing. */
	progress.server_ms = DEBUGINFOD_MS - 300;
	make_command("exec sleep 60 >&-");
	CHECK_INT(find_once(&supervisor, path), -ETIME);
}

/* The command ends when we do, even by SIGKILL. */
static void killed_with_us(void)
{
	char path[PATH_MAX], text[32] = "";
	CLEANUP_FCLOSE FILE *file = NULL;
	pid_t pid;

	make_command("echo $$ >$0.pid; exec sleep 60");
	unlink(in_folder("debuginfod-find.pid"));
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = fork();
	if (pid == 0) {
		struct debuginfod server = {.supervisor = NULL};

		debuginfod__find(&server, &some_id, path);
		_exit(0);
	}
	for (int i = 0; i < 500 && !(file && fgets(text, sizeof(text), file)); i++) {
		usleep(10000);
		if (file)
			fclose(file);
		file = fopen(in_folder("debuginfod-find.pid"), "re");
	}
	CHECK(atoi(text) > 0);
	kill(pid, SIGKILL);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
	/* The command has become our child. */
	alarm(20);
	CHECK_INT(waitpid(atoi(text), NULL, 0), atoi(text));
	alarm(0);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	unlink(in_folder("debuginfod-find.pid"));
}

/* As the child of sym/worker/worker.h does. */
static void while_we_ignore_signals(void)
{
	char path[PATH_MAX];

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	make_command("kill -INT $$; echo /path");
	CHECK_INT(find_once(NULL, path), -ENOENT);
	make_command("kill -TERM $$; echo /path");
	CHECK_INT(find_once(NULL, path), -ENOENT);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

/* The command's status is lost then, but not the path that it has printed. */
static void while_we_ignore_children(void)
{
	char path[PATH_MAX] = "";
	uint64_t began = monotonic_now();

	signal(SIGCHLD, SIG_IGN);
	make_command("echo /path");
	CHECK_INT(find_once(NULL, path), 0);
	CHECK_STR(path, "/path");
	make_command("exit 1");
	CHECK_INT(find_once(NULL, path), -ENOENT);
	make_command("exec cat /dev/zero");
	CHECK_INT(find_once(NULL, path), -E2BIG);
	CHECK(monotonic_now() - began < 10 * 1000000000ULL);
	signal(SIGCHLD, SIG_DFL);
}

/* A process without the three standard descriptors, as the child of sym/worker/worker.h. */
static void without_standard_descriptors(void)
{
	pid_t pid;
	int status;

	make_command("echo /path");
	pid = fork();
	if (pid == 0) {
		struct debuginfod server = {.supervisor = NULL};
		char path[PATH_MAX];

		close(0);
		close(1);
		close(2);
		_exit(debuginfod__find(&server, &some_id, path) == 0 && !strcmp(path, "/path") ? 0 :
												 1);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

/* ---- what comes of it ---- */

static void write_elf_of_class(const char *name, unsigned char last, bool symbols, bool is_32bit)
{
	static const struct image_symbol symbol = {"f", IMAGE_TEXT_ADDRESS, 8, GLOBAL_FUNCTION, 0};
	const unsigned char id[3] = {0xab, 0x01, last};
	unsigned char notes[64];
	struct image_spec spec = {.is_32bit = is_32bit, .notes = notes};
	struct elf_image image;
	FILE *file;

	if (symbols)
		spec.tables[0] = (struct image_table){SHT_SYMTAB, &symbol, 1};
	spec.notes_size = image_note__append(notes, 0, NT_GNU_BUILD_ID, "GNU", id, sizeof(id));
	image = elf_image__make(&spec);
	/* As x32 has it. In both classes this field stands in the same place. */
	elf_image__ehdr(&image)->e_machine = EM_X86_64;
	file = fopen(in_folder(name), "we");
	CHECK_INT(fwrite(image.bytes, image.size, 1, file), 1);
	CHECK_INT(fclose(file), 0);
	elf_image__free(&image);
}

static void write_elf(const char *name, unsigned char last, bool symbols)
{
	write_elf_of_class(name, last, symbols, false);
}

static uint64_t waited_ms; /* by those who look for a file */

static int find_file(bool asks, unsigned int places, struct debug_file *found)
{
	CLEANUP_CLOSE int fd = open(in_folder("program"), O_RDONLY | O_CLOEXEC);
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	CLEANUP(debug_files__close) struct debug_files files = {.symfs = -1};
	uint64_t work = 1000;
	const struct debug_search search = {.elf = &elf,
					    .root = ROOTED_OURS,
					    .places = places,
					    .wanted = DEBUG_SYMBOLS,
					    .work = &work};

	CHECK_INT(elf_file__open(&elf, fd), 0);
	CHECK_INT(debug_files__open(&files, &(struct sym_settings){.debuginfod = asks}, NULL), 0);
	files.server.waited_ms = waited_ms;
	return debug_files__find(&files, &search, found);
}

static void file_that_is_served(void)
{
	struct debug_file found = {.fd = -1};

	write_elf("program", 0xcd, false);
	write_elf("served", 0xcd, true);
	make_command("echo ${0%/*}/served");
	CHECK_INT(find_file(false, ~0U, &found), -ENOENT);
	CHECK_INT(find_file(true, ~0U & ~(unsigned int)DEBUG_SERVER, &found), -ENOENT);
	CHECK_LOG("");
	CHECK_INT(find_file(true, ~0U, &found), 0);
	CHECK_INT(found.place, DEBUG_SERVER);
	CHECK(found.fd >= 0 && close(found.fd) == 0);
	CHECK_LOG("debuginfo ab01cd\n");
	/* A lack of time does not mean that there is no file. */
	waited_ms = DEBUGINFOD_MS;
	CHECK_INT(find_file(true, ~0U, &found), -ETIME);
	waited_ms = 0;
	/* A server is not believed. */
	write_elf("served", 0xce, true);
	CHECK_INT(find_file(true, ~0U, &found), -ENOENT);
	write_elf("served", 0xcd, false);
	CHECK_INT(find_file(true, ~0U, &found), -ENOENT);
	write_elf_of_class("served", 0xcd, true, true);
	CHECK_INT(find_file(true, ~0U, &found), -ENOENT);
	write_elf_of_class("program", 0xcd, false, true);
	CHECK_INT(find_file(true, ~0U, &found), 0);
	CHECK(found.fd >= 0 && close(found.fd) == 0);
	unlink(in_folder("program"));
	unlink(in_folder("served"));
}

/* ---- those who wait ---- */

static void time_of_a_server(void)
{
	struct progress progress = {.pid = 0};
	struct deadline deadline = {.steps = 0};
	const struct timespec look = {.tv_nsec = (LOOK_MS + 5) * 1000000L};
	int err = 0;

	deadline__renew(&deadline, 400);
	deadline__note_progress(&deadline, &progress);
	for (int i = 0; i < 12; i++) {
		nanosleep(&look, NULL);
		progress.server_ms += LOOK_MS + 5;
		progress.steps++;
		CHECK_INT(deadline__check(&deadline, &progress, getpid()), 0);
	}
	/* The rest of the 400 ms is still left, but no more. */
	nanosleep(&look, NULL);
	CHECK_INT(deadline__check(&deadline, &progress, getpid()), 0);
	for (int i = 0; i < 20 && !err; i++) {
		nanosleep(&look, NULL);
		progress.steps++;
		err = deadline__check(&deadline, &progress, getpid());
	}
	CHECK_INT(err, -ETIME);
}

static void environment(void)
{
	struct error error = {""};

	CHECK_INT(setenv("DEBUGINFOD_URLS", "https://localhost", 1), 0);
	CHECK_INT(debuginfod__check(&error), 0);
	CHECK_STR(error.text, "");
	CHECK_INT(setenv("DEBUGINFOD_URLS", " ", 1), 0);
	CHECK_INT(debuginfod__check(&error), -ENOENT);
	CHECK(strstr(error.text, "DEBUGINFOD_URLS is not set"));
	CHECK_INT(unsetenv("DEBUGINFOD_URLS"), 0);
	CHECK_INT(debuginfod__check(&error), -ENOENT);
}

static const struct tap_test tests[] = {
	{"the path that the command prints", path_that_it_prints},
	{"the command has nothing of ours", what_it_inherits},
	{"it runs as the user behind sudo", user_behind_sudo},
	{"what is no path, or no success", what_is_no_path},
	{"what was not found is not asked for again", asked_once},
	{"nor what was found", found_once},
	{"a slow server has its time, and no more", slow_server},
	{"the command ends with us", killed_with_us},
	{"the command can be interrupted, even if we cannot", while_we_ignore_signals},
	{"a program that ignores SIGCHLD learns that it has ended", while_we_ignore_children},
	{"a program without standard descriptors runs it, too", without_standard_descriptors},
	{"a file that a server has is taken if it is the right one", file_that_is_served},
	{"who waits for us gives a server its time", time_of_a_server},
	{"without DEBUGINFOD_URLS a line says what to do", environment},
};

int main(void)
{
	int failed;

	if (!getcwd(folder, sizeof(folder) - 32) ||
	    !mkdtemp(strcat(folder, "/test_debuginfod.XXXXXX")))
		return 1;
	snprintf(whole_path, sizeof(whole_path), "%s:/usr/bin:/bin", folder);
	setenv("PATH", whole_path, 1);
	setenv("DEBUGINFOD_URLS", "", 1);
	failed = TAP_RUN(tests);
	remove_command();
	return rmdir(folder) || failed;
}
