// SPDX-License-Identifier: GPL-2.0-or-later
#include "bpf/unwind_tables.h"
#include "core/unwind/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/child/reader_child.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

#define CLEANUP_FILES CLEANUP(unwind_files__release)

/* ---- what is found by its path ---- */

/* The file that is there: see "--wrap" in ld(1). */
static struct {
	int result;
	struct unwind_identity identity;
	unsigned int nr;	   /* how often somebody has looked, */
	struct unwind_mapped last; /* and for what */
} there;

int __wrap_unwind_reader__identify(struct unwind_mapped *mapped, struct avoided_devices *avoided,
				   int watches);

int __wrap_unwind_reader__identify(struct unwind_mapped *mapped, struct avoided_devices *avoided,
				   int watches)
{
	CHECK(avoided != NULL);
	CHECK_INT(watches, 5);
	there.nr++;
	there.last = *mapped;
	if (there.result)
		return there.result;
	mapped->identity = there.identity;
	mapped->source = UNWIND_SOURCE_FILE;
	mapped->watch = (int32_t)mapped->inode;
	return 0;
}

/* Returns how often somebody has looked for a file, of which the last was not there. */
static unsigned int seek(struct unwind_files *files, int result)
{
	struct avoided_devices avoided = {.nr = 0};

	memset(&there, 0, sizeof(there));
	there.result = result;
	unwind_files__seek(files, &avoided, 5);
	return there.nr;
}

/* The same, when it is that file. */
static unsigned int seek_file(struct unwind_files *files, const struct unwind_mapped *mapped)
{
	struct avoided_devices avoided = {.nr = 0};

	memset(&there, 0, sizeof(there));
	there.identity = mapped->identity;
	unwind_files__seek(files, &avoided, 5);
	return there.nr;
}

/* ---- files ---- */

/* A file with that inode, which is the number of its watch, modified so many times. */
static struct unwind_mapped mapped_file(const char *path, uint64_t inode, uint64_t modified)
{
	struct unwind_mapped mapped = {
		.start = 0x10000,
		.end = 0x20000,
		.device = 8,
		.inode = inode,
		.identity = {.device = 80, .inode = inode, .size = 100, .modified = modified},
		.source = UNWIND_SOURCE_FILE,
		.watch = (int32_t)inode,
	};

	unwind_path__set(mapped.path, path);
	return mapped;
}

static uint32_t find(struct unwind_files *files, const struct unwind_mapped *mapped)
{
	uint32_t file = 12345;

	CHECK_INT(unwind_files__found(files, mapped, &file), 0);
	return file;
}

static uint32_t found(struct unwind_files *files, const char *path, uint64_t inode,
		      uint64_t modified)
{
	const struct unwind_mapped mapped = mapped_file(path, inode, modified);

	return find(files, &mapped);
}

static void same_file_test(void)
{
	CLEANUP_FILES struct unwind_files files = {0};
	uint32_t first = found(&files, "/a", 1, 0);

	CHECK_INT(first, 0);
	CHECK_INT(found(&files, "/a", 1, 0), first);
	/* By another name, and in another place. */
	CHECK_INT(found(&files, "/b", 1, 0), first);
	CHECK_INT(found(&files, "/a", 2, 0), 1);
	CHECK_INT(files.nr, 2);
	CHECK_INT(files.items[first].module, UNWIND_UNKNOWN_MODULE);
	CHECK_INT(files.items[first].state, UNWIND_MODULE_WANTED);
}

/* By a record with generation 7, if none has told another one. */
static uint32_t named(struct unwind_files *files, const char *path, uint64_t inode)
{
	return unwind_files__named(files, 8, inode, 7, path);
}

static void overwritten_file_test(void)
{
	CLEANUP_FILES struct unwind_files files = {0};

	CHECK_INT(found(&files, "/a", 1, 0), 0);
	CHECK_INT(found(&files, "/b", 2, 0), 1);
	CHECK_INT(named(&files, "/a", 1), 0);
	/* Written to, in place; and looked at again. */
	unwind_files__changed(&files, 1);
	CHECK_INT(named(&files, "/a", 1), UNWIND_FILE_UNKNOWN);
	CHECK_INT(named(&files, "/b", 2), 1);
	CHECK_INT(found(&files, "/a", 1, 6), 2);
	CHECK_INT(named(&files, "/a", 1), 2);
	/* A process that has the old one still. */
	CHECK_INT(found(&files, "/a", 1, 0), 0);
	CHECK_INT(files.nr, 3);
	/* Any file may have changed: something was not told. */
	unwind_files__changed(&files, 0);
	CHECK_INT(named(&files, "/b", 2), UNWIND_FILE_UNKNOWN);
	CHECK_INT(seek(&files, -ENOENT), 1);
}

static void names_test(void)
{
	CLEANUP_FILES struct unwind_files files = {0};

	CHECK_INT(found(&files, "/a", 1, 0), 0);
	CHECK_INT(named(&files, "/a", 1), 0);
	CHECK_INT(named(&files, "/b", 1), UNWIND_FILE_UNKNOWN);
	CHECK_INT(unwind_files__named(&files, 9, 1, 7, "/a"), UNWIND_FILE_UNKNOWN);
	CHECK_INT(named(&files, "/a", 2), UNWIND_FILE_UNKNOWN);
	CHECK_INT(named(&files, "/a", 1), 0);
	/* Whatever the watch says: that is another file. */
	CHECK_INT(unwind_files__named(&files, 8, 1, 6, "/a"), UNWIND_FILE_UNKNOWN);
	/* Nobody has seen since that it is the first one again. */
	CHECK_INT(named(&files, "/a", 1), UNWIND_FILE_UNKNOWN);
}

static void unwatched_test(void)
{
	CLEANUP_FILES struct unwind_files files = {0};
	struct unwind_mapped mapped = mapped_file("/a", 1, 0);

	mapped.watch = 0;
	CHECK_INT(find(&files, &mapped), 0);
	CHECK_INT(named(&files, "/a", 1), UNWIND_FILE_UNKNOWN);
	CHECK_INT(find(&files, &mapped), 0);
	CHECK_INT(named(&files, "/a", 1), UNWIND_FILE_UNKNOWN);
	mapped.watch = 3;
	CHECK_INT(find(&files, &mapped), 0);
	CHECK_INT(named(&files, "/a", 1), 0);
}

/* A file that is no program is known as such: nobody need look at it again. */
static void no_program_test(void)
{
	CLEANUP_FILES struct unwind_files files = {0};
	struct unwind_mapped mapped = mapped_file("/memfd:jit", 1, 0);

	mapped.source = UNWIND_SOURCE_OTHER;
	CHECK_INT(find(&files, &mapped), 0);
	CHECK_INT(files.items[0].state, UNWIND_MODULE_EMPTY);
	CHECK_INT(named(&files, "/memfd:jit", 1), 0);
}

/* Files of frames stay, with all that is known of them. */
static void too_many_test(void)
{
	CLEANUP_FILES struct unwind_files files = {0};
	struct unwind_mapped mapped;
	uint32_t file;
	char path[32];
	uint64_t nr;

	for (nr = 1; !unwind_files__is_full(&files); nr++) {
		snprintf(path, sizeof(path), "/%d", (int)nr);
		if (!CHECK_INT(found(&files, path, nr, 0), nr - 1))
			return;
	}
	CHECK_INT(files.nr, UNWIND_FILES_MAX);
	mapped = mapped_file("/more", nr, 0);
	CHECK_INT(unwind_files__found(&files, &mapped, &file), -ENOSPC);
	CHECK_INT(named(&files, "/3", 3), 2);
	files.items[2].module = 17;
	files.items[2].state = UNWIND_MODULE_LOADED;
	unwind_files__forget(&files);
	CHECK_INT(files.nr, 1);
	CHECK_INT(named(&files, "/3", 3), UNWIND_FILE_UNKNOWN);
	CHECK_INT(found(&files, "/3", 3, 0), 0);
	CHECK_INT(files.items[0].module, 17);
	CHECK_INT(find(&files, &mapped), 1);
	CHECK_INT(files.items[1].module, UNWIND_UNKNOWN_MODULE);
}

/* ---- what has been named, and is not known ---- */

static void sought_test(void)
{
	CLEANUP_FILES struct unwind_files files = {0};
	const struct unwind_mapped mapped = mapped_file("/a", 1, 0);

	CHECK_INT(seek(&files, 0), 0);
	CHECK_INT(unwind_files__named(&files, 8, 1, 7, "/a"), UNWIND_FILE_UNKNOWN);
	CHECK_INT(unwind_files__named(&files, 8, 1, 7, "/a"), UNWIND_FILE_UNKNOWN);
	CHECK_INT(seek_file(&files, &mapped), 1);
	CHECK_INT(there.last.device, 8);
	CHECK_INT(there.last.inode, 1);
	CHECK_STR(there.last.path, "/a");
	CHECK_INT(unwind_files__named(&files, 8, 1, 7, "/a"), 0);
	CHECK_INT(seek(&files, 0), 0);
	/* Somebody finds the same file in a process. */
	CHECK_INT(found(&files, "/a", 1, 0), 0);
	CHECK_INT(files.nr, 1);
	CHECK_INT(files.nr_names, 1);
}

static void sought_in_vain_test(void)
{
	CLEANUP_FILES struct unwind_files files = {0};

	CHECK_INT(unwind_files__named(&files, 8, 1, 7, "/a"), UNWIND_FILE_UNKNOWN);
	CHECK_INT(seek(&files, -ESTALE), 1);
	CHECK_INT(unwind_files__named(&files, 8, 1, 7, "/a"), UNWIND_FILE_UNKNOWN);
	CHECK_INT(seek(&files, -ESTALE), 0);
	CHECK_INT(files.nr, 0);
	/* But it can be found, or be another one. */
	CHECK_INT(found(&files, "/a", 1, 0), 0);
	CHECK_INT(unwind_files__named(&files, 8, 1, 7, "/a"), 0);
	CHECK_INT(unwind_files__named(&files, 8, 1, 8, "/a"), UNWIND_FILE_UNKNOWN);
	CHECK_INT(seek(&files, -ESTALE), 1);
}

/*
 * A file that somebody finds meanwhile is not sought any more; files that are not sought by the end
 * are freed.
 */
static void found_while_sought_test(void)
{
	CLEANUP_FILES struct unwind_files files = {0};

	CHECK_INT(unwind_files__named(&files, 8, 1, 7, "/a"), UNWIND_FILE_UNKNOWN);
	CHECK_INT(unwind_files__named(&files, 8, 2, 7, "/b"), UNWIND_FILE_UNKNOWN);
	CHECK_INT(found(&files, "/a", 1, 0), 0);
	CHECK_INT(seek(&files, -ENOENT), 1);
	CHECK_STR(there.last.path, "/b");
	CHECK_INT(unwind_files__named(&files, 8, 1, 7, "/a"), 0);
	CHECK_INT(unwind_files__named(&files, 8, 3, 7, "/c"), UNWIND_FILE_UNKNOWN);
}

/* Records come faster than somebody looks: the last one counts. */
static void sought_again_test(void)
{
	CLEANUP_FILES struct unwind_files files = {0};
	const struct unwind_mapped mapped = mapped_file("/a", 1, 0);

	CHECK_INT(unwind_files__named(&files, 8, 1, 7, "/a"), UNWIND_FILE_UNKNOWN);
	CHECK_INT(unwind_files__named(&files, 8, 1, 9, "/a"), UNWIND_FILE_UNKNOWN);
	CHECK_INT(seek_file(&files, &mapped), 1);
	CHECK_INT(unwind_files__named(&files, 8, 1, 9, "/a"), 0);
}

static void memory_without_file_test(void)
{
	CLEANUP_FILES struct unwind_files files = {0};
	struct unwind_mapped mapped = mapped_file("", 0, 0);

	mapped.source = UNWIND_SOURCE_NONE;
	CHECK_INT(find(&files, &mapped), UNWIND_FILE_NONE);
	CHECK_INT(unwind_files__named(&files, 0, 0, 0, "//anon"), UNWIND_FILE_NONE);
	CHECK_INT(unwind_files__named(&files, 0, 0, 0, ""), UNWIND_FILE_NONE);
	CHECK_INT(files.nr_names, 0);
	CHECK_INT(seek(&files, 0), 0);
}

/* All processes have the same one, and it has no generation. */
static void vdso_test(void)
{
	CLEANUP_FILES struct unwind_files files = {0};
	struct unwind_mapped mapped = {.start = 0x7000, .end = 0x8000};

	unwind_path__set(mapped.path, "[vdso]");
	mapped.source = UNWIND_SOURCE_VDSO;
	CHECK_INT(unwind_files__named(&files, 0, 0, 0, "[vdso]"), UNWIND_FILE_UNKNOWN);
	CHECK_INT(seek(&files, 0), 0);
	CHECK_INT(find(&files, &mapped), 0);
	mapped.start = 0x9000;
	mapped.end = 0xa000;
	CHECK_INT(find(&files, &mapped), 0);
	CHECK_INT(unwind_files__named(&files, 0, 0, 0, "[vdso]"), 0);
	/* A file can have that name. */
	CHECK_INT(unwind_files__named(&files, 8, 1, 0, "[vdso]"), UNWIND_FILE_UNKNOWN);
}

/* Records of the kernel have whole paths; they lead to the same names. */
static void long_paths_test(void)
{
	CLEANUP_FILES struct unwind_files files = {0};
	char path[1000], longest[UNWIND_PATH_MAX];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	memcpy(longest, path, sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	CHECK_INT(found(&files, path, 1, 0), 0);
	CHECK_INT(found(&files, longest, 2, 0), 1);
	CHECK_INT(files.nr_names, 2);
	CHECK(files.items[0].mapped.path[0] == '#');
	CHECK_INT(named(&files, path, 1), 0);
	CHECK_INT(named(&files, longest, 2), 1);
	CHECK_INT(named(&files, longest, 1), UNWIND_FILE_UNKNOWN);
	path[500] = 'y';
	CHECK_INT(unwind_files__named(&files, 8, 1, 7, path), UNWIND_FILE_UNKNOWN);
}

#define MANY 2000

static void many_files_test(void)
{
	CLEANUP_FILES struct unwind_files files = {0};
	double start = tap_cpu_seconds();

	for (uint32_t i = 0; i < MANY; i++)
		CHECK_INT(found(&files, "/a", i + 1, 0), i);
	for (uint32_t i = 0; i < MANY; i++)
		CHECK_INT(unwind_files__named(&files, 8, i + 1, i, "/a"), i);
	for (uint32_t i = 0; i < MANY; i++)
		CHECK_INT(unwind_files__named(&files, 9, i + 1, i, "/a"), UNWIND_FILE_UNKNOWN);
	CHECK_INT(seek(&files, -ENOENT), MANY);
	CHECK(tap_cpu_seconds() - start < 1);
}

static const struct tap_test tests[] = {
	{"a file is one, whoever has it mapped", same_file_test},
	{"a file that was overwritten is another one", overwritten_file_test},
	{"a name means its file with one generation only", names_test},
	{"as long as that is watched", unwatched_test},
	{"what is no program is known as that", no_program_test},
	{"without room those are forgotten of which no frames are", too_many_test},
	{"a name that is not known is sought once", sought_test},
	{"also in vain", sought_in_vain_test},
	{"unless it is found before", found_while_sought_test},
	{"as it was named last", sought_again_test},
	{"memory without a file is none", memory_without_file_test},
	{"the vDSO is one for all", vdso_test},
	{"paths are shortened everywhere", long_paths_test},
	{"many files are found at once", many_files_test},
};

int main(void)
{
	return TAP_RUN(tests);
}
