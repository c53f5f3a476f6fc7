// SPDX-License-Identifier: GPL-2.0-or-later
/* Which file a soname means: in folders of the test's own, and as the loader of this machine says.
 */
#include "sym/find/library.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/elf/machine.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/elf_image.h"
#include "test/unit/tap.h"

static char folder[PATH_MAX / 4];

/* A path in the folder, until the fourth call from now on. */
static const char *in_folder(const char *path)
{
	static char paths[4][PATH_MAX];
	static unsigned int next;
	char *whole = paths[next++ % 4];

	snprintf(whole, PATH_MAX, "%s/%s", folder, path);
	return whole;
}

static void write_elf(const char *path, uint16_t machine)
{
	static const struct image_symbol symbol = {"f", IMAGE_TEXT_ADDRESS, 8, GLOBAL_FUNCTION, 0};
	struct image_spec spec = {.tables = {{SHT_SYMTAB, &symbol, 1}}};
	struct elf_image image = elf_image__make(&spec);
	CLEANUP_FCLOSE FILE *file = fopen(in_folder(path), "wbe");

	elf_image__ehdr(&image)->e_machine = machine;
	CHECK(file && fwrite(image.bytes, image.size, 1, file) == 1);
	elf_image__free(&image);
}

static void make_files(void)
{
	char cwd[sizeof(folder) - 32];

	CHECK(getcwd(cwd, sizeof(cwd)));
	snprintf(folder, sizeof(folder), "%s/test_library.XXXXXX", cwd);
	CHECK(mkdtemp(folder));
	CHECK_INT(mkdir(in_folder("bin"), 0700), 0);
	CHECK_INT(mkdir(in_folder("lib"), 0700), 0);
	CHECK_INT(mkdir(in_folder("other"), 0700), 0);
	write_elf("lib/liba.so.1", MACHINE_ELF);
	write_elf("other/liba.so.1", MACHINE_ELF);
	write_elf("lib/libb.so.1", EM_NONE);
	write_elf("other/libb.so.1", MACHINE_ELF);
}

static void remove_files(void)
{
	static const char *const paths[] = {"lib/liba.so.1", "other/liba.so.1",
					    "lib/libb.so.1", "other/libb.so.1",
					    "bin",	     "lib",
					    "other",	     ""};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		CHECK_INT(remove(in_folder(paths[i])), 0);
}

/* path: of the file that is found, or NULL. */
static void check_finds(const char *run_path, const char *soname, const char *path, int line)
{
	const struct library_user user = {.path = in_folder("bin/program"), .run_path = run_path};
	CLEANUP_CLOSE int fd = library__open(&user, soname);
	struct stat found, expected;

	if (!path) {
		tap_check_int(fd, -ENOENT, __FILE__, line, soname);
		return;
	}
	tap_check(fd >= 0 && !fstat(fd, &found) && !stat(path, &expected) &&
			  found.st_ino == expected.st_ino && found.st_dev == expected.st_dev,
		  __FILE__, line, "'%s' is not %s", soname, path);
}

#define CHECK_FINDS(run_path, soname, path) check_finds(run_path, soname, path, __LINE__)

static void folders(void)
{
	char list[PATH_MAX];

	make_files();
	CHECK_FINDS("", "liba.so.1", NULL);
	CHECK_FINDS("", in_folder("lib/liba.so.1"), in_folder("lib/liba.so.1"));
	CHECK_FINDS("$ORIGIN/../lib", "liba.so.1", in_folder("lib/liba.so.1"));
	CHECK_FINDS("/nowhere:${ORIGIN}/../other:$ORIGIN/../lib", "liba.so.1",
		    in_folder("other/liba.so.1"));
	/* A library of another machine is passed over. */
	snprintf(list, sizeof(list), "%s:%s", in_folder("lib"), in_folder("other"));
	CHECK_FINDS(list, "libb.so.1", in_folder("other/libb.so.1"));
	/* The environment comes first. */
	CHECK_INT(setenv("LD_LIBRARY_PATH", in_folder("other"), 1), 0);
	CHECK_FINDS("$ORIGIN/../lib", "liba.so.1", in_folder("other/liba.so.1"));
	CHECK_INT(unsetenv("LD_LIBRARY_PATH"), 0);
	remove_files();
}

/* What no list of folders can be: too long, or without a folder of its own. */
static void odd_lists(void)
{
	static char list[2 * PATH_MAX];
	const struct library_user nobody = {.path = "program", .run_path = "$ORIGIN"};

	memset(list, 'x', sizeof(list) - 1);
	CHECK_FINDS(list, "liba.so.1", NULL);
	memset(list, ':', sizeof(list) - 1);
	CHECK_FINDS(list, "liba.so.1", NULL);
	CHECK_FINDS("$ORIG:$:${ORIGIN", "liba.so.1", NULL);
	CHECK_INT(library__open(&nobody, "liba.so.1"), -ENOENT);
}

/* The cache of this machine, if it has one, leads to a libc; so do the usual folders. */
static void of_this_machine(void)
{
	const struct library_user user = {.path = "/program", .run_path = ""};
	CLEANUP_CLOSE int fd = library__open(&user, "libc.so.6");

	if (access("/lib/" MACHINE_TRIPLET "/libc.so.6", F_OK))
		tap_skip("no glibc is here");
	else
		CHECK(fd >= 0 && library__is_for_this_machine(fd));
}

static const struct tap_test tests[] = {
	{"the folders of the environment, of the file, and of nobody", folders},
	{"lists of folders that make no sense", odd_lists},
	{"libc of this machine", of_this_machine},
};

int main(void)
{
	return TAP_RUN(tests);
}
