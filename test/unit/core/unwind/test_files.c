// SPDX-License-Identifier: GPL-2.0-or-later
#include "bpf/unwind_tables.h"
#include "core/unwind/files.h"

#include <errno.h>
#include <string.h>

#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

#define CLEANUP_FILES CLEANUP(unwind_files__release)

static uint32_t add(struct unwind_files *files, const struct mapped_file *file)
{
	uint32_t index = UNWIND_FILE_NONE;

	CHECK_INT(unwind_files__add(files, file, &index), 0);
	return index;
}

static void once(void)
{
	CLEANUP_FILES struct unwind_files files = {0};
	const struct mapped_file first = {.inode = 5, .device = 1}, second = {.inode = 6};

	CHECK_INT(add(&files, &first), 0);
	CHECK_INT(add(&files, &second), 1);
	CHECK_INT(add(&files, &first), 0);
	CHECK_INT(files.nr, 2);
	CHECK_INT(files.items[0].module, UNWIND_UNKNOWN_MODULE);
	CHECK_INT(files.items[0].mapped.source, UNWIND_SOURCE_NONE);
	CHECK(!memcmp(&files.items[1].mapped.file, &second, sizeof(second)));
}

/* Each part tells files apart: a number of an inode is used again, and a file is written to. */
static void differences(void)
{
	CLEANUP_FILES struct unwind_files files = {0};
	const struct mapped_file all[] = {
		{.inode = 5, .size = 9, .ctime = 3, .ctime_nsec = 2, .generation = 1, .device = 4},
		{.inode = 6, .size = 9, .ctime = 3, .ctime_nsec = 2, .generation = 1, .device = 4},
		{.inode = 5, .size = 8, .ctime = 3, .ctime_nsec = 2, .generation = 1, .device = 4},
		{.inode = 5, .size = 9, .ctime = 4, .ctime_nsec = 2, .generation = 1, .device = 4},
		{.inode = 5, .size = 9, .ctime = 3, .ctime_nsec = 1, .generation = 1, .device = 4},
		{.inode = 5, .size = 9, .ctime = 3, .ctime_nsec = 2, .generation = 2, .device = 4},
		{.inode = 5, .size = 9, .ctime = 3, .ctime_nsec = 2, .generation = 1, .device = 5},
	};

	for (uint32_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		CHECK_INT(add(&files, &all[i]), i);
	for (uint32_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		CHECK_INT(add(&files, &all[i]), i);
}

static void full(void)
{
	CLEANUP_FILES struct unwind_files files = {0};
	struct mapped_file file = {.device = 7};
	uint32_t index, wrong = 0;

	for (file.inode = 0; file.inode < UNWIND_FILES; file.inode++)
		wrong += unwind_files__add(&files, &file, &index) || index != file.inode;
	CHECK_INT(wrong, 0);
	CHECK_INT(unwind_files__add(&files, &file, &index), -ENOSPC);
	file.inode = UNWIND_FILES - 1;
	CHECK_INT(unwind_files__add(&files, &file, &index), 0);
	CHECK_INT(index, UNWIND_FILES - 1);
}

static void modules(void)
{
	CLEANUP_FILES struct unwind_files files = {0};
	const struct mapped_file first = {.inode = 5}, second = {.inode = 6};

	add(&files, &first);
	unwind_files__set_module(&files, add(&files, &second), 3);
	CHECK_INT(unwind_files__with_module(&files, 3), 1);
	CHECK_INT(unwind_files__with_module(&files, 4), UNWIND_FILE_NONE);
}

/* Its index is that of the next, which has nothing of it; those of its bucket are found still. */
static void removed(void)
{
	CLEANUP_FILES struct unwind_files files = {0};
	struct mapped_file file = {0};
	uint32_t wrong = 0;

	/* Some in each bucket. */
	for (file.inode = 0; file.inode < 8 * UNWIND_FILE_BUCKETS; file.inode++)
		add(&files, &file);
	for (uint32_t i = 0; i < files.nr; i += 2) {
		unwind_files__set_module(&files, i, i);
		unwind_files__remove(&files, i);
		wrong += unwind_files__with_module(&files, i) != UNWIND_FILE_NONE;
	}
	for (file.inode = 1; file.inode < files.nr; file.inode += 2)
		wrong += add(&files, &file) != file.inode;
	for (file.inode = 0; file.inode < files.nr; file.inode += 2) {
		uint32_t index = add(&files, &file);

		wrong += index % 2 || files.items[index].module != UNWIND_UNKNOWN_MODULE;
	}
	CHECK_INT(wrong, 0);
	CHECK_INT(files.nr, 8 * UNWIND_FILE_BUCKETS);
	file.inode = files.nr - 1;
	CHECK_INT(add(&files, &file), file.inode);
}

static const struct tap_test tests[] = {
	{"a file is there once", once},
	{"files differ in any part of what the kernel knows", differences},
	{"there is room for so many", full},
	{"a file is found by its module", modules},
	{"a file that is removed makes room for another", removed},
};

int main(void)
{
	return TAP_RUN(tests);
}
