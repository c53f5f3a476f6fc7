// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All happens in a root that is made for it, so that /usr/lib/debug can hold a test's files: this
 * program goes there (in namespaces of its own) when make_debug_files.sh has made the files, which
 * then lie in /made.
 */
#include "sym/symfile/debug_file.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/child/supervisor.h"
#include "sym/elf/file.h"
#include "sym/process/rooted.h"
#include "sym/symfile/mini_symbols.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "test/unit/tap.h"

#define BUILD_IDS "/usr/lib/debug/.build-id/"
#define ID_A	  BUILD_IDS "a1/a2a3a4.debug"
#define WORK	  ((uint64_t)1024 * 1024)
#define CROWD	  99 /* a user who is neither root nor we */

/* ---- the root ---- */

static const char *why_not; /* nothing can be tested, or NULL */
static int outside = -1;    /* the root that there was before */

static bool write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	bool good = file && fputs(text, file) >= 0;

	return file && fclose(file) == 0 && good;
}

/* Become root in a user namespace, if we are not root; files of others cannot be made there. */
static const char *become_root(void)
{
	uid_t user = geteuid();
	char map[64];

	if (user == 0)
		return unshare(CLONE_NEWNS) ? "no mount namespace can be made" : NULL;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return "no user namespace can be made";
	snprintf(map, sizeof(map), "0 %d 1", (int)user);
	return write_text("/proc/self/uid_map", map) ? NULL : "no user can be mapped";
}

static const char *enter_root(const char *folder)
{
	char command[PATH_MAX + 64], proc[PATH_MAX];
	const char *failure;

	snprintf(command, sizeof(command), MAKE_DEBUG_FILES " %s/made >&2", folder);
	snprintf(proc, sizeof(proc), "%s/proc", folder);
	if (mkdir(proc, 0755))
		return "there is no room for folders";
	snprintf(proc, sizeof(proc), "%s/made", folder);
	if (mkdir(proc, 0755) || system(command))
		return "cc, objcopy or strip does not do";
	failure = become_root();
	if (failure)
		return failure;
	snprintf(proc, sizeof(proc), "%s/proc", folder);
	outside = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("/proc", proc, NULL, MS_BIND | MS_REC, NULL))
		return "/proc cannot be mounted";
	return chroot(folder) || chdir("/") ? "the root cannot be changed" : NULL;
}

static bool is_ready(void)
{
	if (why_not)
		tap_skip(why_not);
	return !why_not;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* ---- files for one test ---- */

static char put_paths[32][PATH_MAX];
static size_t nr_put;

/* Note a path that goes at the end of the test, and the folders that it lies in. */
static void claim(const char *path)
{
	char *kept = put_paths[nr_put++];

	if (nr_put > ARRAY_SIZE(put_paths))
		abort();
	snprintf(kept, PATH_MAX, "%s", path);
	for (char *slash = kept; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(kept, 0755);
		*slash = '/';
	}
}

static void put(const char *made, const char *path)
{
	char from[PATH_MAX], bytes[4096];
	CLEANUP_FCLOSE FILE *in = NULL;
	CLEANUP_FCLOSE FILE *out = NULL;
	size_t got;

	claim(path);
	snprintf(from, sizeof(from), "/made/%s", made);
	in = fopen(from, "re");
	out = fopen(path, "we");
	if (!CHECK(in && out))
		return;
	while ((got = fread(bytes, 1, sizeof(bytes), in)))
		CHECK_INT(fwrite(bytes, 1, got, out), got);
}

static void put_link(const char *target, const char *path)
{
	claim(path);
	CHECK_INT(symlink(target, path), 0);
}

static void clear(void)
{
	while (nr_put)
		remove(put_paths[--nr_put]);
}

/* ---- what is found ---- */

struct program {
	int fd;
	struct elf_file elf;
};

static struct program open_program(const char *path)
{
	struct program program = {.fd = open(path, O_RDONLY | O_CLOEXEC)};

	CHECK(program.fd >= 0);
	CHECK_INT(elf_file__open(&program.elf, program.fd), 0);
	return program;
}

static void close_program(const struct program *program)
{
	elf_file__close(&((struct program *)program)->elf);
	close(program->fd);
}

#define OF_PROGRAM (-1)

/* A test's wishes; all else is as usual. */
struct wish {
	const char *program; /* its path */
	const char *mapped;  /* NULL: the same */
	pid_t pid;
	unsigned int places; /* 0: all */
	enum debug_content wanted;
	const char *symfs;
	const struct avoid_list *avoided;
	bool no_work;  /* nothing more may be read */
	int alternate; /* the alternate file of a file in this place is wanted; or OF_PROGRAM */
	int package;   /* the same for the package of split units */
};

static int find(const struct wish *wish, struct debug_file *found)
{
	CLEANUP(close_program) struct program program = open_program(wish->program);
	struct root_identity identity;
	CLEANUP_CLOSE int root = rooted__root_of(wish->pid, &identity);
	const struct sym_settings settings = {.symfs = wish->symfs};
	struct progress progress = {0};
	const struct supervisor supervisor = {.avoided = wish->avoided, .progress = &progress};
	uint64_t work = wish->no_work ? 0 : WORK;
	const struct debug_search search = {
		.elf = &program.elf,
		.path = wish->mapped ? wish->mapped : wish->program,
		.pid = wish->pid,
		.root = root,
		.places = wish->places ? wish->places : ~0U,
		.wanted = wish->wanted,
		.work = &work,
	};
	struct debug_files files;
	int err = debug_files__open(&files, &settings, wish->avoided ? &supervisor : NULL);

	if (!CHECK_INT(err, 0))
		return err;
	if (wish->alternate)
		err = debug_files__find_alternate(
			&files, &search,
			wish->alternate == OF_PROGRAM ? 0 : (enum debug_place)wish->alternate,
			found);
	else if (wish->package)
		err = debug_files__find_package(
			&files, &search,
			wish->package == OF_PROGRAM ? 0 : (enum debug_place)wish->package, found);
	else
		err = debug_files__find(&files, &search, found);
	debug_files__close(&files);
	return err;
}

static void check_found(const struct wish *wish, const char *path, enum debug_place place, int line)
{
	struct debug_file found = {.fd = -1};
	struct stat expected, st;
	int err = find(wish, &found);

	if (!tap_check(err == 0, __FILE__, line, "%s: %s", wish->program, strerror(-err)))
		return;
	CHECK_INT(stat(path, &expected), 0);
	CHECK_INT(fstat(found.fd, &st), 0);
	tap_check(st.st_ino == expected.st_ino && st.st_dev == expected.st_dev, __FILE__, line,
		  "it is not %s", path);
	tap_check_int(found.place, place, __FILE__, line, "place");
	CHECK_INT(found.device, expected.st_dev);
	CHECK(fcntl(found.fd, F_GETFD) & FD_CLOEXEC);
	close(found.fd);
}

static void check_missing(const struct wish *wish, int line)
{
	struct debug_file found = {.fd = 77};

	tap_check_int(find(wish, &found), -ENOENT, __FILE__, line, wish->program);
	CHECK_INT(found.fd, 77);
}

#define WISH(path, ...)		      (&(const struct wish){.program = (path), ##__VA_ARGS__})
#define CHECK_FOUND(path, place, ...) check_found(WISH(__VA_ARGS__), path, place, __LINE__)
#define CHECK_MISSING(...)	      check_missing(WISH(__VA_ARGS__), __LINE__)

/* ---- by build ID ---- */

static void by_build_id(void)
{
	if (!is_ready())
		return;
	CHECK_MISSING("/made/a.stripped");
	put("a.debug", ID_A);
	CHECK_FOUND(ID_A, DEBUG_HOST, "/made/a.stripped");
	CHECK_FOUND(ID_A, DEBUG_HOST, "/made/a.stripped", .wanted = DEBUG_DWARF);
	CHECK_FOUND(ID_A, DEBUG_HOST, "/made/a.stripped", .mapped = "/gone (deleted)");
	CHECK_FOUND(ID_A, DEBUG_HOST, "/made/a.stripped", .mapped = "/memfd:name (deleted)");
	CHECK_FOUND(ID_A, DEBUG_HOST, "/made/a.stripped", .mapped = "");
	CHECK_FOUND(ID_A, DEBUG_HOST, "/made/a.stripped", .pid = getpid());
	CHECK_MISSING("/made/a.stripped", .places = DEBUG_TARGET | DEBUG_SYMFS | DEBUG_SERVER,
		      .pid = getpid());
	CHECK_MISSING("/made/b.stripped");
	CHECK_MISSING("/made/plain.stripped");
	clear();
	/* As packages of Fedora have it. */
	put("a.debug", "/usr/lib/debug/usr/lib/a.debug");
	put_link("../../usr/lib/a.debug", ID_A);
	CHECK_FOUND("/usr/lib/debug/usr/lib/a.debug", DEBUG_HOST, "/made/a.stripped");
	clear();
}

/* Where the debug file of a should be. */
static void check_refused(const char *made)
{
	put(made, ID_A);
	CHECK_MISSING("/made/a.stripped");
	clear();
}

static void what_is_no_debug_file(void)
{
	if (!is_ready())
		return;
	alarm(20);
	check_refused("b.debug");
	check_refused("plain.debug");
	check_refused("a.stripped");
	check_refused("a.c");
	claim(ID_A);
	CHECK_INT(mkfifo(ID_A, 0644), 0);
	CHECK_MISSING("/made/a.stripped");
	clear();
	claim(ID_A "/x");
	CHECK_MISSING("/made/a.stripped");
	clear();
	rmdir(ID_A);
	put_link("/proc/self/exe", ID_A);
	CHECK_MISSING("/made/a.stripped");
	clear();
	put_link(ID_A, ID_A);
	CHECK_MISSING("/made/a.stripped");
	clear();
	alarm(0);
}

/* A field of the header of ID_A, which both classes have in the same place. */
static void spoil_header(size_t offset, unsigned char value)
{
	CLEANUP_CLOSE int fd = open(ID_A, O_WRONLY | O_CLOEXEC);

	CHECK_INT(pwrite(fd, &value, 1, (off_t)offset), 1);
}

static void another_machine(void)
{
	if (!is_ready())
		return;
	put("a.debug", ID_A);
	spoil_header(offsetof(Elf64_Ehdr, e_machine), EM_NONE);
	CHECK_MISSING("/made/a.stripped");
	clear();
	put("a.debug", ID_A);
	spoil_header(EI_CLASS, ELFCLASS32);
	CHECK_MISSING("/made/a.stripped");
	clear();
	put("a.debug", ID_A);
	CHECK_INT(truncate(ID_A, 1000), 0);
	CHECK_MISSING("/made/a.stripped");
	clear();
}

static void files_of_others(void)
{
	if (!is_ready())
		return;
	put("a.debug", ID_A);
	if (chown(ID_A, CROWD, CROWD)) {
		tap_skip("only root makes files of others");
		clear();
		return;
	}
	CHECK_MISSING("/made/a.stripped");
	put("a.stripped", "/shared/a");
	CHECK_MISSING("/shared/a");
	CHECK_INT(chown("/shared/a", CROWD, CROWD), 0);
	CHECK_FOUND(ID_A, DEBUG_HOST, "/shared/a");
	CHECK_INT(chown("/shared/a", CROWD + 1, CROWD), 0);
	CHECK_MISSING("/shared/a");
	clear();
}

/* A file that lacks the wanted content does not end the search. */
static void what_is_wanted(void)
{
	if (!is_ready())
		return;
	put("a.symbols", ID_A);
	put("a.linked", "/lib/a.so");
	put("a.debug", "/lib/a.debug");
	CHECK_FOUND(ID_A, DEBUG_HOST, "/lib/a.so");
	CHECK_FOUND("/lib/a.debug", DEBUG_HOST, "/lib/a.so", .wanted = DEBUG_DWARF);
	clear();
}

static void what_files_have(void)
{
	static const struct {
		const char *path;
		bool symbols, dwarf;
	} files[] = {
		{"/made/a.full", true, true},	  {"/made/a.debug", true, true},
		{"/made/a.symbols", true, false}, {"/made/a.stripped", false, false},
		{"/made/a.linked", false, false},
	};

	if (!is_ready())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		CLEANUP(close_program) struct program program = open_program(files[i].path);

		CHECK_INT(debug_content__is_in(&program.elf, DEBUG_SYMBOLS), files[i].symbols);
		CHECK_INT(debug_content__is_in(&program.elf, DEBUG_DWARF), files[i].dwarf);
	}
}

/* ---- by .gnu_debuglink ---- */

static void check_link(const char *program, const char *debug, const char *path)
{
	put(program, "/lib/x/it.so");
	put(debug, path);
	CHECK_FOUND(path, DEBUG_HOST, "/lib/x/it.so");
	CHECK_FOUND(path, DEBUG_HOST, "/lib/x/it.so", .pid = getpid());
	CHECK_FOUND(path, DEBUG_HOST, "/lib/x/it.so", .mapped = "/lib/x/other.so (deleted)");
	CHECK_MISSING("/lib/x/it.so", .mapped = "/lib/y/it.so");
	CHECK_MISSING("/lib/x/it.so", .mapped = "it.so");
	CHECK_MISSING("/lib/x/it.so", .places = ~0U & ~(unsigned int)DEBUG_HOST);
	clear();
}

static void by_link(void)
{
	static const char *const names[] = {"a", "plain"};

	if (!is_ready())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char linked[64], debug[64], path[128];

		snprintf(linked, sizeof(linked), "%s.linked", names[i]);
		snprintf(debug, sizeof(debug), "%s.debug", names[i]);
		snprintf(path, sizeof(path), "/lib/x/%s", debug);
		check_link(linked, debug, path);
		snprintf(path, sizeof(path), "/lib/x/.debug/%s", debug);
		check_link(linked, debug, path);
		snprintf(path, sizeof(path), "/usr/lib/debug/lib/x/%s", debug);
		check_link(linked, debug, path);
	}
	/* In the root folder. */
	put("a.linked", "/a.so");
	put("a.debug", "/usr/lib/debug/a.debug");
	CHECK_FOUND("/usr/lib/debug/a.debug", DEBUG_HOST, "/a.so");
	clear();
}

static void links_that_do_not_agree(void)
{
	if (!is_ready())
		return;
	/* The CRC of one without a build ID. */
	put("plain.linked", "/lib/x/it.so");
	put("large.debug", "/lib/x/plain.debug");
	CHECK_MISSING("/lib/x/it.so");
	clear();
	put("plain.linked", "/lib/x/it.so");
	put("plain.debug", "/lib/x/plain.debug");
	CHECK_FOUND("/lib/x/plain.debug", DEBUG_HOST, "/lib/x/it.so");
	CHECK_MISSING("/lib/x/it.so", .no_work = true);
	CHECK_INT(truncate("/lib/x/plain.debug", 3000), 0);
	CHECK_MISSING("/lib/x/it.so");
	clear();
	/* Where both have a build ID, that decides. */
	put("a.linked", "/lib/x/it.so");
	put("b.debug", "/lib/x/a.debug");
	CHECK_MISSING("/lib/x/it.so");
	clear();
	put("a.linked", "/lib/x/it.so");
	put("a.changed", "/lib/x/a.debug");
	CHECK_FOUND("/lib/x/a.debug", DEBUG_HOST, "/lib/x/it.so");
	clear();
	/* Where one has no build ID the CRC decides, whatever the other has. */
	put("a.linked", "/lib/x/it.so");
	put("plain.debug", "/lib/x/a.debug");
	CHECK_MISSING("/lib/x/it.so");
	clear();
}

static void links_that_lead_elsewhere(void)
{
	if (!is_ready())
		return;
	put("a.debug", "/lib/a.debug");
	put("a.debug", "/a.debug");
	put("a.up", "/lib/x/up.so");
	CHECK_MISSING("/lib/x/up.so");
	put("a.absolute", "/lib/x/absolute.so");
	CHECK_MISSING("/lib/x/absolute.so");
	clear();
}

/* ---- in the root of a process ---- */

static bool go_to_target(void)
{
	return chroot("/target") == 0 && chdir("/") == 0;
}

/* Our root, but other debug files there. */
static bool go_to_other_mounts(void)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount("/target/usr/lib/debug", "/usr/lib/debug", NULL, MS_BIND, NULL) == 0;
}

static pid_t start_child(bool (*go_there)(void))
{
	int ends[2];
	char ready;
	pid_t pid;

	CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (!go_there() || write(ends[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	CHECK_INT(read(ends[0], &ready, 1), 1);
	close(ends[0]);
	return pid;
}

/* A child whose root is /target. */
static pid_t start_target(void)
{
	mkdir("/target", 0755);
	return start_child(go_to_target);
}

static void end_target(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
}

static void another_root(void)
{
	pid_t pid;

	if (!is_ready())
		return;
	pid = start_target();
	put("a.debug", "/target" ID_A);
	CHECK_FOUND("/target" ID_A, DEBUG_TARGET, "/made/a.stripped", .pid = pid);
	CHECK_MISSING("/made/a.stripped", .pid = pid, .places = DEBUG_HOST | DEBUG_SYMFS);
	CHECK_MISSING("/made/a.stripped", .pid = getpid());
	CHECK_MISSING("/made/a.stripped");
	put("a.debug", ID_A);
	CHECK_FOUND(ID_A, DEBUG_HOST, "/made/a.stripped", .pid = pid);
	CHECK_FOUND("/target" ID_A, DEBUG_TARGET, "/made/a.stripped", .pid = pid,
		    .places = DEBUG_TARGET);
	clear();
	/* It may be anyone's there. */
	put("a.debug", "/target" ID_A);
	if (chown("/target" ID_A, CROWD, CROWD) == 0)
		CHECK_FOUND("/target" ID_A, DEBUG_TARGET, "/made/a.stripped", .pid = pid);
	clear();
	/* Beside the program in its own root, not in ours. */
	put("plain.linked", "/target/lib/it.so");
	put("plain.debug", "/lib/plain.debug");
	CHECK_MISSING("/target/lib/it.so", .mapped = "/lib/it.so", .pid = pid);
	put("plain.debug", "/target/usr/lib/debug/lib/plain.debug");
	CHECK_FOUND("/target/usr/lib/debug/lib/plain.debug", DEBUG_TARGET, "/target/lib/it.so",
		    .mapped = "/lib/it.so", .pid = pid);
	clear();
	end_target(pid);
}

static void other_mounts(void)
{
	pid_t pid;

	if (!is_ready())
		return;
	claim("/usr/lib/debug/x");
	put("a.debug", "/target" ID_A);
	pid = start_child(go_to_other_mounts);
	CHECK_FOUND("/target" ID_A, DEBUG_TARGET, "/made/a.stripped", .pid = pid);
	CHECK_MISSING("/made/a.stripped", .pid = getpid());
	clear();
	end_target(pid);
}

static void hostile_root(void)
{
	pid_t pid;

	if (!is_ready())
		return;
	alarm(20);
	pid = start_target();
	put("b.debug", "/target" ID_A);
	CHECK_MISSING("/made/a.stripped", .pid = pid);
	clear();
	claim("/target" ID_A);
	CHECK_INT(mkfifo("/target" ID_A, 0644), 0);
	CHECK_MISSING("/made/a.stripped", .pid = pid);
	clear();
	/* A link leads nowhere else than the process itself would get. */
	put("a.debug", "/elsewhere/a.debug");
	put_link("/elsewhere/a.debug", "/target" ID_A);
	CHECK_MISSING("/made/a.stripped", .pid = pid);
	put("a.debug", "/target/elsewhere/a.debug");
	CHECK_FOUND("/target/elsewhere/a.debug", DEBUG_TARGET, "/made/a.stripped", .pid = pid);
	clear();
	put("a.debug", "/elsewhere/a.debug");
	put_link("../../../../../../../../elsewhere/a.debug", "/target" ID_A);
	CHECK_MISSING("/made/a.stripped", .pid = pid);
	clear();
	end_target(pid);
	/* After the end of the process its folders may have been ours. */
	put("plain.linked", "/lib/it.so");
	put("plain.debug", "/lib/plain.debug");
	CHECK_FOUND("/lib/plain.debug", DEBUG_HOST, "/lib/it.so", .pid = pid);
	clear();
	alarm(0);
}

/* ---- --symfs ---- */

static void symfs(void)
{
	if (!is_ready())
		return;
	put("a.full", "/image/lib/it.so");
	put("b.full", "/image/lib/other.so");
	CHECK_FOUND("/image/lib/it.so", DEBUG_SYMFS, "/made/a.stripped", .symfs = "/image",
		    .mapped = "/lib/it.so");
	CHECK_FOUND("/image/lib/it.so", DEBUG_SYMFS, "/made/a.stripped", .symfs = "image/",
		    .mapped = "/lib/it.so (deleted)");
	CHECK_MISSING("/made/a.stripped", .symfs = "/image", .mapped = "/lib/it.so",
		      .places = ~0U & ~(unsigned int)DEBUG_SYMFS);
	CHECK_MISSING("/made/a.stripped", .symfs = "/image", .mapped = "/lib/other.so");
	CHECK_MISSING("/made/plain.stripped", .symfs = "/image", .mapped = "/lib/it.so");
	put("a.debug", ID_A);
	put("a.debug", "/image" ID_A);
	CHECK_FOUND("/image" ID_A, DEBUG_SYMFS, "/made/a.stripped", .symfs = "/image",
		    .mapped = "/lib/other.so");
	CHECK_FOUND(ID_A, DEBUG_HOST, "/made/a.stripped", .symfs = "/usr",
		    .mapped = "/lib/other.so");
	if (chown("/image" ID_A, CROWD, CROWD) == 0)
		CHECK_FOUND("/image" ID_A, DEBUG_SYMFS, "/made/a.stripped", .symfs = "/image");
	clear();
	/* Without build IDs. */
	put("plain.full", "/image/lib/it.so");
	put("large.full", "/image/lib/other.so");
	CHECK_FOUND("/image/lib/it.so", DEBUG_SYMFS, "/made/plain.stripped", .symfs = "/image",
		    .mapped = "/lib/it.so");
	CHECK_MISSING("/made/plain.stripped", .symfs = "/image", .mapped = "/lib/other.so");
	CHECK_MISSING("/made/a.stripped", .symfs = "/image", .mapped = "/lib/it.so");
	clear();
	put("plain.debug", "/image/usr/lib/debug/lib/plain.debug");
	CHECK_FOUND("/image/usr/lib/debug/lib/plain.debug", DEBUG_SYMFS, "/made/plain.linked",
		    .symfs = "/image", .mapped = "/lib/it.so");
	clear();
}

static void links_out_of_symfs(void)
{
	struct debug_files files = {.symfs = 77};

	if (!is_ready())
		return;
	put("a.full", "/elsewhere/it.so");
	put_link("/elsewhere/it.so", "/image/lib/absolute.so");
	put_link("../../elsewhere/it.so", "/image/lib/relative.so");
	CHECK_MISSING("/made/a.stripped", .symfs = "/image", .mapped = "/lib/absolute.so");
	CHECK_MISSING("/made/a.stripped", .symfs = "/image", .mapped = "/lib/relative.so");
	CHECK_MISSING("/made/a.stripped", .symfs = "/image", .mapped = "/../elsewhere/it.so");
	put("a.full", "/image/elsewhere/it.so");
	CHECK_FOUND("/image/elsewhere/it.so", DEBUG_SYMFS, "/made/a.stripped", .symfs = "/image",
		    .mapped = "/lib/absolute.so");
	CHECK_FOUND("/image/elsewhere/it.so", DEBUG_SYMFS, "/made/a.stripped", .symfs = "/image",
		    .mapped = "/lib/relative.so");
	clear();
	CHECK_INT(debug_files__open(&files, &(struct sym_settings){.symfs = "/none"}, NULL),
		  -ENOENT);
	CHECK_INT(debug_files__open(&files, &(struct sym_settings){.symfs = "/made/a.c"}, NULL),
		  -ENOTDIR);
	CHECK_INT(files.symfs, -1);
}

/* ---- the alternate file ---- */

static void alternates(void)
{
	struct debug_file found;

	if (!is_ready())
		return;
	/* It names none. */
	CHECK_INT(find(WISH("/made/b.debug", .alternate = DEBUG_HOST), &found), 1);
	CHECK_MISSING("/made/b.sharedalternate", .alternate = DEBUG_HOST);
	put("a.debug", "/shared/alternate");
	CHECK_FOUND("/shared/alternate", DEBUG_HOST, "/made/b.sharedalternate",
		    .alternate = DEBUG_HOST);
	CHECK_FOUND("/shared/alternate", DEBUG_HOST, "/made/b.sharedalternate",
		    .alternate = OF_PROGRAM);
	CHECK_FOUND("/shared/alternate", DEBUG_HOST, "/made/b.sharedalternate",
		    .alternate = OF_PROGRAM, .pid = getpid());
	clear();
	/* The content does not matter, only the build ID. */
	put("a.stripped", "/shared/alternate");
	CHECK_FOUND("/shared/alternate", DEBUG_HOST, "/made/b.sharedalternate",
		    .alternate = DEBUG_HOST);
	clear();
	put("b.debug", "/shared/alternate");
	CHECK_MISSING("/made/b.sharedalternate", .alternate = DEBUG_HOST);
	clear();
	put("a.debug", "/beside/alternate");
	CHECK_FOUND("/beside/alternate", DEBUG_HOST, "/made/b.besidealternate",
		    .alternate = DEBUG_HOST);
	clear();
	put("a.debug", "/usr/lib/debug/.dwz/machine/alternate");
	CHECK_FOUND("/usr/lib/debug/.dwz/machine/alternate", DEBUG_HOST,
		    "/made/b.nowheredwzmachinealternate", .alternate = DEBUG_HOST);
	clear();
	put("a.debug", "/usr/lib/debug/.dwz/alternate");
	CHECK_FOUND("/usr/lib/debug/.dwz/alternate", DEBUG_HOST, "/made/b.sharedalternate",
		    .alternate = DEBUG_HOST);
	clear();
	put("a.debug", ID_A);
	CHECK_FOUND(ID_A, DEBUG_HOST, "/made/b.nowhere", .alternate = DEBUG_HOST);
	clear();
}

static void alternates_in_other_roots(void)
{
	pid_t pid;

	if (!is_ready())
		return;
	pid = start_target();
	put("b.sharedalternate", "/target/lib/b.debug");
	put("b.besidealternate", "/target/lib/relative.debug");
	put("a.debug", "/shared/alternate");
	CHECK_MISSING("/target/lib/b.debug", .pid = pid, .alternate = DEBUG_TARGET);
	put("a.debug", "/target/shared/alternate");
	put("a.debug", "/target/beside/alternate");
	CHECK_FOUND("/target/shared/alternate", DEBUG_TARGET, "/target/lib/b.debug", .pid = pid,
		    .alternate = DEBUG_TARGET);
	CHECK_FOUND("/target/beside/alternate", DEBUG_TARGET, "/target/lib/relative.debug",
		    .pid = pid, .alternate = OF_PROGRAM);
	end_target(pid);
	/* The same folder as the user's. */
	CHECK_FOUND("/target/shared/alternate", DEBUG_SYMFS, "/target/lib/b.debug",
		    .symfs = "/target", .alternate = DEBUG_SYMFS);
	CHECK_FOUND("/target/beside/alternate", DEBUG_SYMFS, "/target/lib/relative.debug",
		    .symfs = "/target", .alternate = DEBUG_SYMFS);
	CHECK_FOUND("/shared/alternate", DEBUG_HOST, "/target/lib/b.debug",
		    .alternate = DEBUG_HOST);
	clear();
}

static void what_dwz_makes(void)
{
	if (!is_ready())
		return;
	if (access("/made/dwz.common", R_OK)) {
		tap_skip("dwz is not installed");
		return;
	}
	put("dwz.common", "/shared/dwz.common");
	CHECK_FOUND("/shared/dwz.common", DEBUG_HOST, "/made/dwz1.full", .alternate = OF_PROGRAM);
	CHECK_FOUND("/shared/dwz.common", DEBUG_HOST, "/made/dwz2.full", .alternate = OF_PROGRAM);
	clear();
}

/* ---- packages of split units ---- */

/* What is in them is not looked at. */
static void packages(void)
{
	if (!is_ready())
		return;
	put("a.full", "/bin/program");
	CHECK_MISSING("/bin/program", .package = OF_PROGRAM);
	put("b.full", "/bin/program.dwp");
	CHECK_FOUND("/bin/program.dwp", DEBUG_HOST, "/bin/program", .package = OF_PROGRAM);
	CHECK_FOUND("/bin/program.dwp", DEBUG_HOST, "/bin/program", .package = OF_PROGRAM,
		    .mapped = "/bin/program (deleted)");
	CHECK_FOUND("/bin/program.dwp", DEBUG_HOST, "/made/a.debug", .package = DEBUG_HOST,
		    .mapped = "/bin/program");
	CHECK_MISSING("/made/a.debug", .package = OF_PROGRAM);
	clear();
	/* What is no ELF file is none. */
	put("a.full", "/bin/program");
	put("a.c", "/bin/program.dwp");
	CHECK_MISSING("/bin/program", .package = OF_PROGRAM);
	put("b.full", "/usr/lib/debug/bin/program.dwp");
	CHECK_FOUND("/usr/lib/debug/bin/program.dwp", DEBUG_HOST, "/bin/program",
		    .package = OF_PROGRAM);
	clear();
}

static void packages_of_separate_files(void)
{
	if (!is_ready())
		return;
	put("a.debug", ID_A);
	put("a.stripped", "/bin/program");
	put("b.full", BUILD_IDS "a1/a2a3a4.dwp");
	CHECK_FOUND(BUILD_IDS "a1/a2a3a4.dwp", DEBUG_HOST, ID_A, .package = DEBUG_HOST,
		    .mapped = "/bin/program");
	put("b.full", ID_A ".dwp");
	CHECK_FOUND(ID_A ".dwp", DEBUG_HOST, ID_A, .package = DEBUG_HOST, .mapped = "/bin/program");
	clear();
}

static void packages_in_other_roots(void)
{
	pid_t pid;

	if (!is_ready())
		return;
	pid = start_target();
	put("a.full", "/target/bin/program");
	put("b.full", "/bin/program.dwp");
	CHECK_MISSING("/target/bin/program", .mapped = "/bin/program", .pid = pid,
		      .package = OF_PROGRAM);
	put("b.full", "/target/bin/program.dwp");
	CHECK_FOUND("/target/bin/program.dwp", DEBUG_TARGET, "/target/bin/program",
		    .mapped = "/bin/program", .pid = pid, .package = OF_PROGRAM);
	put("b.full", "/symbols/bin/program.dwp");
	CHECK_FOUND("/symbols/bin/program.dwp", DEBUG_SYMFS, "/target/bin/program",
		    .mapped = "/bin/program", .pid = pid, .symfs = "/symbols",
		    .package = OF_PROGRAM);
	end_target(pid);
	clear();
}

/* ---- .gnu_debugdata ---- */

static int inflate(const char *path, uint64_t work)
{
	CLEANUP(close_program) struct program program = open_program(path);

	return mini_symbols__open(&program.elf, &work);
}

static bool makes_mini_symbols(void)
{
	if (!is_ready())
		return false;
	if (access("/made/mini.good", R_OK))
		tap_skip("xz is not installed");
	return access("/made/mini.good", R_OK) == 0;
}

static void symbols_in_the_file(void)
{
	static const char *const paths[] = {"/made/mini.good", "/made/mini.best"};

	if (!makes_mini_symbols())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		CLEANUP_CLOSE int fd = inflate(paths[i], WORK);
		CLEANUP_CLOSE int original = open("/made/mini", O_RDONLY | O_CLOEXEC);
		char bytes[65536], expected[65536];
		ssize_t size = read(original, expected, sizeof(expected));

		CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		CHECK_INT(pread(fd, bytes, sizeof(bytes), 0), size);
		CHECK(size > 0 && !memcmp(bytes, expected, (size_t)size));
	}
}

static void bad_symbols_in_the_file(void)
{
	double began = tap_cpu_seconds();

	if (!makes_mini_symbols())
		return;
	CHECK_INT(inflate("/made/a.stripped", WORK), -ENOENT);
	CHECK_INT(inflate("/made/mini.cut", WORK), -EBADMSG);
	CHECK_INT(inflate("/made/mini.plain", WORK), -EBADMSG);
	CHECK_INT(inflate("/made/mini.text", WORK), -EBADMSG);
	CHECK_INT(inflate("/made/mini.bomb", 16 * WORK), -EFBIG);
	CHECK_INT(inflate("/made/mini.bomb", WORK / 16), -EFBIG);
	CHECK_INT(inflate("/made/mini.good", 10), -EFBIG);
	if (access("/made/mini.dictionary", R_OK) == 0)
		CHECK_INT(inflate("/made/mini.dictionary", WORK), -EFBIG);
	CHECK(tap_cpu_seconds() - began < 5);
}

/* ---- the child that inflates ---- */

#define BOMB_WORK (16 * WORK) /* as much as it may take */

/* The child that is there while the timer runs gets this signal, once it is in its sandbox. */
static volatile sig_atomic_t signal_for_child, signalled;

/* In a handler: no stdio. text: "" if it cannot be read. */
static void read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, text, size - 1);

	text[got > 0 ? got : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

static void signal_child(int number)
{
	char path[64] = "/proc/", text[4096];
	int saved = errno;

	(void)number;
	read_text("/proc/thread-self/children", text, sizeof(text));
	if (!signalled && text[0]) {
		pid_t child = (pid_t)strtol(text, NULL, 10);

		strcat(strncat(path, text, strcspn(text, " ")), "/status");
		read_text(path, text, sizeof(text));
		if (strstr(text, "\nSeccomp:\t2\n"))
			signalled = kill(child, signal_for_child) == 0;
	}
	errno = saved;
}

/* Once in a millisecond, or not any more. */
static void set_timer(bool on)
{
	const struct sigaction action = {.sa_handler = on ? signal_child : SIG_IGN,
					 .sa_flags = SA_RESTART};
	const struct timeval every = {.tv_usec = on ? 1000 : 0};
	const struct itimerval timer = {.it_interval = every, .it_value = every};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static int nr_open(void)
{
	CLEANUP_CLOSEDIR DIR *folder = opendir("/proc/self/fd");
	int nr = 0;

	while (folder && readdir(folder))
		nr++;
	return nr;
}

/* The result for a bomb whose child gets a signal. */
static int inflate_with_signal(int number, double *seconds)
{
	uint64_t began = monotonic_now();
	int result;

	signal_for_child = number;
	signalled = 0;
	set_timer(true);
	result = inflate("/made/mini.bomb", BOMB_WORK);
	set_timer(false);
	*seconds = (double)(monotonic_now() - began) / (double)NANOSECONDS;
	CHECK(signalled);
	return result;
}

static void child_that_is_disturbed(void)
{
	double seconds;
	int before;

	if (!makes_mini_symbols())
		return;
	if (access("/proc/thread-self/children", R_OK)) {
		tap_skip("the kernel does not list children");
		return;
	}
	before = nr_open();
	CHECK_INT(inflate_with_signal(SIGKILL, &seconds), -EPIPE);
	CHECK(seconds < 2);
	CHECK_INT(inflate_with_signal(SIGSTOP, &seconds), -EFBIG);
	CHECK(seconds >= 1.9 && seconds < 4);
	/* The child ignores Ctrl-C: that is for us. */
	CHECK_INT(inflate_with_signal(SIGINT, &seconds), -EFBIG);
	CHECK(seconds < 1.9);
	CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_INT(nr_open(), before);
}

static void what_the_child_leaves(void)
{
	static const char *const paths[] = {"/made/mini.good", "/made/mini.cut", "/made/mini.text",
					    "/made/mini.bomb", "/made/a.stripped"};
	siginfo_t info;
	pid_t other;
	int before;

	if (!makes_mini_symbols())
		return;
	other = fork();
	if (other == 0)
		_exit(7);
	CHECK_INT(waitid(P_PID, (id_t)other, &info, WEXITED | WNOWAIT), 0);
	before = nr_open();
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		CLEANUP_CLOSE int fd = inflate(paths[i], BOMB_WORK);

		CHECK_INT(nr_open(), before + (fd >= 0));
	}
	/* Another child has been left alone; there are no more. */
	CHECK_INT(waitpid(-1, NULL, WNOHANG), other);
	CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
}

/* A program that ignores SIGCHLD hands that down to those it starts. */
static void children_that_are_not_waited_for(void)
{
	if (!makes_mini_symbols())
		return;
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 2; i++) {
		CLEANUP_CLOSE int fd = inflate("/made/mini.good", WORK);

		CHECK(fd >= 0);
	}
	signal(SIGCHLD, SIG_DFL);
}

/* The result for the section of /made/mini.good with that size in its header. */
static int inflate_size(uint64_t size, uint64_t *work)
{
	CLEANUP(close_program) struct program program = open_program("/made/mini.good");
	const struct elf_section *section =
		elf_file__find_section(&program.elf, ".gnu_debugdata", false);

	if (!CHECK(section))
		return -ENOENT;
	program.elf.sections[section - program.elf.sections].size = size;
	return mini_symbols__open(&program.elf, work);
}

static void sections_of_other_sizes(void)
{
	uint64_t work = BOMB_WORK;

	if (!makes_mini_symbols())
		return;
	CHECK_INT(inflate_size(UINT64_MAX, &work), -EFBIG);
	CHECK_INT(inflate_size(0, &work), -EBADMSG);
	/* Longer than the file: what follows the stream does not matter. */
	CLEANUP_CLOSE int fd = inflate_size(10 * 1000 * 1000, &work);
	CHECK(fd >= 0);
	CHECK(work < BOMB_WORK && work > BOMB_WORK / 2);
}

/* ---- what did not answer ---- */

static void places_that_did_not_answer(void)
{
	struct avoid_list none = {.nr = 0}, host = {.items = {{.debug = true}}, .nr = 1};
	struct avoid_list own = {.items = {{.pid = getpid(), .debug = true}}, .nr = 1};
	struct avoid_list other = {.items = {{.pid = 1, .debug = true}}, .nr = 1};
	struct avoid_list many = {.items = {{.pid = 1, .debug = true}, {.pid = 2, .debug = true}},
				  .nr = 2};

	if (!is_ready())
		return;
	put("a.debug", ID_A);
	CHECK_FOUND(ID_A, DEBUG_HOST, "/made/a.stripped", .avoided = &none, .pid = getpid());
	CHECK_FOUND(ID_A, DEBUG_HOST, "/made/a.stripped", .avoided = &many, .pid = getpid());
	CHECK_MISSING("/made/a.stripped", .avoided = &host, .pid = getpid());
	clear();
	put("a.linked", "/lib/it.so");
	put("a.debug", "/lib/a.debug");
	CHECK_FOUND("/lib/a.debug", DEBUG_HOST, "/lib/it.so", .avoided = &host, .pid = getpid());
	CHECK_FOUND("/lib/a.debug", DEBUG_HOST, "/lib/it.so", .avoided = &other, .pid = getpid());
	CHECK_MISSING("/lib/it.so", .avoided = &own, .pid = getpid());
	CHECK_MISSING("/lib/it.so", .avoided = &many, .pid = getpid());
	clear();
}

static const struct tap_test tests[] = {
	{"a debug file is found by its build ID", by_build_id},
	{"what is no debug file of the program is not taken, nor waited for",
	 what_is_no_debug_file},
	{"nor is one for another machine, or one cut short", another_machine},
	{"on the host it is root's, ours, or of whom the program is", files_of_others},
	{"a file that lacks what is wanted does not end the search", what_is_wanted},
	{"what a file has is known", what_files_have},
	{"a link leads beside the program, to .debug and below /usr/lib/debug", by_link},
	{"a link without a build ID needs its CRC", links_that_do_not_agree},
	{"a link is a name, never a path", links_that_lead_elsewhere},
	{"the root of a process comes after ours", another_root},
	{"so does what a process has mounted elsewhere in ours", other_mounts},
	{"what a process has there leads nowhere else", hostile_root},
	{"a folder of the user's comes first", symfs},
	{"nothing leads out of it", links_out_of_symfs},
	{"an alternate file is found by path, by name and by build ID", alternates},
	{"it is looked for in the root of the file that names it", alternates_in_other_roots},
	{"a package of split units is beside the program, or below /usr/lib/debug", packages},
	{"or beside the separate file", packages_of_separate_files},
	{"in the root of the process, or below the user's folder", packages_in_other_roots},
	{"dwz names one that is found", what_dwz_makes},
	{"symbols that are in the file are inflated", symbols_in_the_file},
	{"bad ones cost little", bad_symbols_in_the_file},
	{"the child that inflates is in a sandbox, and costs two seconds at most",
	 child_that_is_disturbed},
	{"it leaves nothing behind, and other children alone", what_the_child_leaves},
	{"whoever started us may have ignored SIGCHLD", children_that_are_not_waited_for},
	{"a section is read as far as the file goes", sections_of_other_sizes},
	{"a place that did not answer is left out", places_that_did_not_answer},
};

int main(void)
{
	char folder[PATH_MAX - 64];
	int failed;

	if (!getcwd(folder, sizeof(folder) - 32))
		return 1;
	strcat(folder, "/test_debug_file.XXXXXX");
	if (!mkdtemp(folder))
		return 1;
	chmod(folder, 0755);
	why_not = enter_root(folder);
	failed = TAP_RUN(tests);
	if (!why_not &&
	    (fchdir(outside) || chroot(".") || umount2(strcat(folder, "/proc"), MNT_DETACH)))
		return 1;
	if (!why_not)
		*strrchr(folder, '/') = '\0';
	return failed || nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
