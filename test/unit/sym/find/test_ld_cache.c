// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/find/ld_cache.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sym/elf/machine.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

#define OURS (0x0003 | MACHINE_LD_CACHE)

#define HEADER_SIZE 48
#define ENTRY_SIZE  24

/* A cache with two entries, behind so many entries of the old format; -1: without its header. */
struct image {
	char bytes[512];
	size_t size, start;
};

static void put(struct image *image, size_t offset, const void *bytes, size_t size)
{
	memcpy(image->bytes + image->start + offset, bytes, size);
	if (image->size < image->start + offset + size)
		image->size = image->start + offset + size;
}

static void put_number(struct image *image, size_t offset, uint32_t number)
{
	put(image, offset, &number, sizeof(number));
}

static void put_entry(struct image *image, size_t i, uint32_t soname, uint32_t path)
{
	put_number(image, HEADER_SIZE + i * ENTRY_SIZE, OURS);
	put_number(image, HEADER_SIZE + i * ENTRY_SIZE + 4, soname);
	put_number(image, HEADER_SIZE + i * ENTRY_SIZE + 8, path);
}

static struct image make_image(int old_entries)
{
	static const char strings[] = "libc.so.6\0/lib/libc.so.6\0libm.so.6\0/lib/libm.so.6";
	const uint32_t text = HEADER_SIZE + 2 * ENTRY_SIZE;
	struct image image = {.size = 0};

	if (old_entries >= 0) {
		put(&image, 0, "ld.so-1.7.0", 12);
		put_number(&image, 12, (uint32_t)old_entries);
		image.start = (16 + (size_t)old_entries * 12 + 7) / 8 * 8;
	}
	put(&image, 0, "glibc-ld.so.cache1.1", 20);
	put_number(&image, 20, 2);
	put_entry(&image, 0, text, text + 10);
	put_entry(&image, 1, text + 25, text + 35);
	put(&image, text, strings, sizeof(strings));
	return image;
}

/* The result of ld_cache__open() for the first size bytes, in memory of their own. */
static int open_result(const struct image *image, size_t size)
{
	CLEANUP_FREE char *bytes = malloc(size + !size);
	struct ld_cache cache = {.nr = 77};
	int err;

	memcpy(bytes, image->bytes, size);
	err = ld_cache__open(&cache, bytes, size);
	for (uint32_t i = 0; i < cache.nr && !err; i++) {
		const char *soname = NULL, *path = NULL;

		if (ld_cache__entry(&cache, i, &soname, &path))
			CHECK(soname && path && strlen(soname) && strlen(path));
		else
			CHECK(!soname && !path);
	}
	if (err)
		CHECK_INT(cache.nr, 77);
	return err;
}

/* The path of entry i; NULL: it is none. */
static const char *path_of(const struct image *image, uint32_t i)
{
	struct ld_cache cache;
	const char *soname, *path;

	if (!CHECK_INT(ld_cache__open(&cache, image->bytes, image->size), 0) ||
	    !ld_cache__entry(&cache, i, &soname, &path))
		return NULL;
	return path;
}

static void check_entries(const struct image *image)
{
	struct ld_cache cache = {0};
	const char *soname, *path;

	CHECK_INT(ld_cache__open(&cache, image->bytes, image->size), 0);
	CHECK_INT(cache.nr, 2);
	if (CHECK(ld_cache__entry(&cache, 0, &soname, &path))) {
		CHECK_STR(soname, "libc.so.6");
		CHECK_STR(path, "/lib/libc.so.6");
	}
	if (CHECK(ld_cache__entry(&cache, 1, &soname, &path))) {
		CHECK_STR(soname, "libm.so.6");
		CHECK_STR(path, "/lib/libm.so.6");
	}
}

static void entries_are_found(void)
{
	for (int old_entries = -1; old_entries < 4; old_entries++) {
		struct image image = make_image(old_entries);

		check_entries(&image);
	}
}

static void entries_for_others(void)
{
	static const uint32_t others[] = {0, 1, 3, MACHINE_LD_CACHE, OURS ^ 0x8000, UINT32_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct image image = make_image(-1);

		put_number(&image, HEADER_SIZE, others[i]);
		CHECK_STR(path_of(&image, 0), NULL);
		CHECK_STR(path_of(&image, 1), "/lib/libm.so.6");
	}
}

static void entries_for_some_cpus(void)
{
	struct image image = make_image(-1);

	put_number(&image, HEADER_SIZE + 20, 1U << 30);
	CHECK_STR(path_of(&image, 0), NULL);
	CHECK_STR(path_of(&image, 1), "/lib/libm.so.6");
}

static void strings_outside(void)
{
	struct image image = make_image(-1);
	const uint32_t offsets[] = {(uint32_t)image.size, (uint32_t)image.size + 1, INT32_MAX,
				    UINT32_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		image = make_image(-1);
		put_entry(&image, 0, HEADER_SIZE, offsets[i]);
		CHECK_STR(path_of(&image, 0), NULL);
		put_entry(&image, 0, offsets[i], HEADER_SIZE + 2 * ENTRY_SIZE);
		CHECK_STR(path_of(&image, 0), NULL);
	}
	/* The last string has no end. */
	image = make_image(-1);
	image.bytes[image.size - 1] = 'x';
	image.bytes[image.size - 2] = 'x';
	CHECK_STR(path_of(&image, 0), "/lib/libc.so.6");
	CHECK_STR(path_of(&image, 1), NULL);
}

static void strings_that_are_too_long(void)
{
	const size_t size = HEADER_SIZE + ENTRY_SIZE + 2 * PATH_MAX;
	CLEANUP_FREE char *bytes = malloc(size);
	struct image image = make_image(-1);
	struct ld_cache cache;
	const char *soname, *path;

	put_number(&image, 20, 1);
	put_entry(&image, 0, HEADER_SIZE + ENTRY_SIZE, HEADER_SIZE + ENTRY_SIZE);
	memset(bytes, 'x', size);
	memcpy(bytes, image.bytes, HEADER_SIZE + ENTRY_SIZE);
	bytes[HEADER_SIZE + ENTRY_SIZE + PATH_MAX] = '\0';
	CHECK_INT(ld_cache__open(&cache, bytes, size), 0);
	CHECK(!ld_cache__entry(&cache, 0, &soname, &path));
	bytes[HEADER_SIZE + ENTRY_SIZE + PATH_MAX - 1] = '\0';
	CHECK(ld_cache__entry(&cache, 0, &soname, &path));
}

static void what_is_no_cache(void)
{
	struct image image = make_image(-1);

	image.bytes[19] = '2';
	CHECK_INT(open_result(&image, image.size), -EINVAL);
	image = make_image(-1);
	/* The header says an entry more than there is room for. */
	put_number(&image, 20, (uint32_t)((image.size - HEADER_SIZE) / ENTRY_SIZE + 1));
	CHECK_INT(open_result(&image, image.size), -EINVAL);
	put_number(&image, 20, UINT32_MAX);
	CHECK_INT(open_result(&image, image.size), -EINVAL);
	image = make_image(3);
	memcpy(image.bytes + 12, &(uint32_t){UINT32_MAX}, 4);
	CHECK_INT(open_result(&image, image.size), -EINVAL);
	memcpy(image.bytes + 12, &(uint32_t){4}, 4);
	CHECK_INT(open_result(&image, image.size), -EINVAL);
}

static void any_truncation_is_survived(void)
{
	for (int old_entries = -1; old_entries < 2; old_entries++) {
		struct image image = make_image(old_entries);

		for (size_t size = 0; size < image.start + HEADER_SIZE + 2 * ENTRY_SIZE; size++)
			CHECK_INT(open_result(&image, size), -EINVAL);
		for (size_t size = image.start + HEADER_SIZE + 2 * ENTRY_SIZE; size <= image.size;
		     size++)
			CHECK_INT(open_result(&image, size), 0);
	}
}

static const struct tap_test tests[] = {
	{"sonames and paths are found, behind the old format as well", entries_are_found},
	{"entries for other machines are left out", entries_for_others},
	{"entries for some CPUs only are left out", entries_for_some_cpus},
	{"strings that lie outside, or have no end, are left out", strings_outside},
	{"a string of more than a path may have is left out", strings_that_are_too_long},
	{"what is no cache is refused", what_is_no_cache},
	{"a cache that is cut anywhere is survived", any_truncation_is_survived},
};

int main(void)
{
	return TAP_RUN(tests);
}
