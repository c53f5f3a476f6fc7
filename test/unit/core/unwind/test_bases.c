// SPDX-License-Identifier: GPL-2.0-or-later
/* What walks have noted of programs; the map is an array of this file (see "--wrap" in ld(1)). */
#include "core/unwind/bases.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/unwind_tables.h"
#include "sym/util/page.h"
#include "test/unit/tap.h"

#define ENTRIES 8

static struct {
	struct base_key key;
	uint64_t base;
	bool used;
} entries[ENTRIES];

static int numbers_fd;
static int delete_error;

static const struct bpf_map *const the_bases = (const struct bpf_map *)entries;
static const struct bpf_map *const the_numbers = (const struct bpf_map *)&numbers_fd;

int __wrap_bpf_map__fd(const struct bpf_map *map);
int __wrap_bpf_map_lookup_elem(int fd, const void *key, void *value);
int __wrap_bpf_map_delete_elem(int fd, const void *key);
int __wrap_bpf_map_get_next_key(int fd, const void *key, void *next_key);

int __wrap_bpf_map__fd(const struct bpf_map *map)
{
	return map == the_numbers ? numbers_fd : -7;
}

static int find(const struct base_key *key)
{
	for (int i = 0; i < ENTRIES; i++)
		if (entries[i].used && !memcmp(&entries[i].key, key, sizeof(*key)))
			return i;
	errno = ENOENT;
	return -1;
}

int __wrap_bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	int i = find(key);

	CHECK_INT(fd, -7);
	if (i >= 0)
		memcpy(value, &entries[i].base, sizeof(entries[i].base));
	return i < 0 ? -ENOENT : 0;
}

int __wrap_bpf_map_delete_elem(int fd, const void *key)
{
	int i = find(key);

	CHECK_INT(fd, -7);
	if (delete_error) {
		errno = delete_error;
		return -delete_error;
	}
	if (i >= 0)
		entries[i].used = false;
	return i < 0 ? -ENOENT : 0;
}

int __wrap_bpf_map_get_next_key(int fd, const void *key, void *next_key)
{
	CHECK_INT(fd, -7);
	CHECK(!key);
	for (int i = 0; i < ENTRIES; i++) {
		if (!entries[i].used)
			continue;
		memcpy(next_key, &entries[i].key, sizeof(entries[i].key));
		return 0;
	}
	return -ENOENT;
}

static struct base_key key_of(uint64_t program)
{
	return (struct base_key){.program = program, .tgid = 5, .module = 6};
}

static void fill(struct unwind_bases *bases)
{
	numbers_fd = memfd_create("numbers", MFD_CLOEXEC);
	CHECK_INT(ftruncate(numbers_fd, (off_t)page_size()), 0);
	delete_error = 0;
	for (uint64_t i = 0; i < ENTRIES; i++) {
		entries[i].key = key_of(i);
		entries[i].base = 0x1000 * i;
		entries[i].used = true;
	}
	CHECK_INT(unwind_bases__open(bases, the_bases, the_numbers), 0);
	close(numbers_fd);
}

static void bases_are_found(void)
{
	const struct unwind_bases none = {0};
	struct base_key key = key_of(3);
	struct unwind_bases bases;
	uint64_t base = 0;

	fill(&bases);
	CHECK(unwind_bases__find(&bases, &key, &base));
	CHECK_INT(base, 0x3000);
	CHECK(!unwind_bases__find(&none, &key, &base));
	/* The program is not known. */
	key = key_of(0);
	CHECK(!unwind_bases__find(&bases, &key, &base));
	key = key_of(ENTRIES);
	CHECK(!unwind_bases__find(&bases, &key, &base));
	unwind_bases__close(&bases);
	unwind_bases__close(&bases);
}

static void bases_are_forgotten(void)
{
	const struct unwind_bases none = {0};
	struct base_key key = key_of(3);
	struct unwind_bases bases;
	uint64_t base;

	fill(&bases);
	unwind_bases__make_room(&none);
	bases.numbers->nr_bases = UNWIND_BASES / 2;
	unwind_bases__make_room(&bases);
	CHECK(unwind_bases__find(&bases, &key, &base));
	CHECK_INT(bases.numbers->bases_version, 0);
	bases.numbers->nr_bases = UNWIND_BASES - 10;
	unwind_bases__make_room(&bases);
	CHECK(!unwind_bases__find(&bases, &key, &base));
	CHECK_INT(bases.numbers->bases_version, 1);
	CHECK_INT(bases.numbers->nr_bases, 0);
	unwind_bases__close(&bases);
	/* What cannot be deleted keeps nobody busy. */
	fill(&bases);
	bases.numbers->nr_bases = UNWIND_BASES;
	delete_error = EPERM;
	unwind_bases__make_room(&bases);
	CHECK_INT(bases.numbers->bases_version, 1);
	unwind_bases__close(&bases);
}

static const struct tap_test tests[] = {
	{"where a program has a module is found", bases_are_found},
	{"all is forgotten when there is little room", bases_are_forgotten},
};

int main(void)
{
	return TAP_RUN(tests);
}
