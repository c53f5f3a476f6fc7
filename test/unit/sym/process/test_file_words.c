// SPDX-License-Identifier: GPL-2.0-or-later
/* A file of one page, mapped twice, as programs of lld have their data. */
#include "sym/process/file_words.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/util/cleanup.h"
#include "sym/util/page.h"
#include "test/unit/tap.h"

#define OFFSET 100

static int make_file(void)
{
	int fd = memfd_create("words", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_INT(ftruncate(fd, (off_t)page_size()), 0);
	return fd;
}

/* Two pages side by side; the second is the right one. */
static unsigned char *map_twice(int fd, int first, int second, int flags)
{
	unsigned char *pages =
		mmap(NULL, 2 * page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED);
	CHECK(mmap(pages, page_size(), first, MAP_FIXED | MAP_PRIVATE, fd, 0) == pages);
	CHECK(mmap(pages + page_size(), page_size(), second, MAP_FIXED | flags, fd, 0) ==
	      pages + page_size());
	return pages;
}

static uint16_t value_at(const unsigned char *page)
{
	uint16_t value;

	memcpy(&value, page + OFFSET, sizeof(value));
	return value;
}

static int raise_to(pid_t pid, int fd, uint64_t distance, uint16_t value)
{
	const struct file_word word = {.offset = OFFSET, .distance = distance, .value = value};
	struct mapped_as as = {0};

	CHECK_INT(mapped_as__find(&as, fd), 0);
	return file_words__raise(pid, &as, &word, 1);
}

/* What the right word becomes that is to be 3 at least. */
static int raised(int first, int second, int flags, uint64_t distance)
{
	CLEANUP_CLOSE int fd = make_file();
	unsigned char *pages = map_twice(fd, first, second, flags);
	int value;

	CHECK_INT(raise_to(getpid(), fd, distance, 3), 0);
	CHECK_INT(value_at(pages),
		  second & PROT_WRITE && flags == MAP_SHARED ? value_at(pages) : 0);
	value = value_at(pages + page_size());
	munmap(pages, 2 * page_size());
	return value;
}

static void raised_test(void)
{
	const int both = PROT_READ | PROT_WRITE;

	CHECK_INT(raised(PROT_READ, both, MAP_PRIVATE, page_size()), 3);
	CHECK_INT(raised(both, both, MAP_PRIVATE, page_size()), 0);
	CHECK_INT(raised(PROT_READ, PROT_READ, MAP_PRIVATE, page_size()), 0);
	CHECK_INT(raised(PROT_READ, both, MAP_SHARED, page_size()), 0);
	CHECK_INT(raised(PROT_READ, both, MAP_PRIVATE, 2 * page_size()), 0);
	CHECK_INT(raised(PROT_READ, both, MAP_PRIVATE, -page_size()), 0);
}

static void never_lowered_test(void)
{
	CLEANUP_CLOSE int fd = make_file();
	unsigned char *pages = map_twice(fd, PROT_READ, PROT_READ | PROT_WRITE, MAP_PRIVATE);

	CHECK_INT(raise_to(getpid(), fd, page_size(), 3), 0);
	CHECK_INT(raise_to(getpid(), fd, page_size(), 2), 0);
	CHECK_INT(value_at(pages + page_size()), 3);
	CHECK_INT(raise_to(getpid(), fd, page_size(), 5), 0);
	CHECK_INT(value_at(pages + page_size()), 5);
	munmap(pages, 2 * page_size());
}

static void other_file_test(void)
{
	CLEANUP_CLOSE int fd = make_file();
	CLEANUP_CLOSE int other = make_file();
	unsigned char *pages = map_twice(fd, PROT_READ, PROT_READ | PROT_WRITE, MAP_PRIVATE);

	CHECK_INT(raise_to(getpid(), other, page_size(), 3), 0);
	CHECK_INT(value_at(pages + page_size()), 0);
	munmap(pages, 2 * page_size());
}

/* At the very end of a mapping, and beyond any. */
static void odd_offsets_test(void)
{
	CLEANUP_CLOSE int fd = make_file();
	unsigned char *pages = map_twice(fd, PROT_READ, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	const uint64_t offsets[] = {page_size() - 1, page_size(), UINT64_MAX, UINT64_MAX - 1,
				    (uint64_t)1 << 63};
	struct mapped_as as = {0};

	CHECK_INT(mapped_as__find(&as, fd), 0);
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		const struct file_word word = {
			.offset = offsets[i], .distance = page_size(), .value = 3};

		CHECK_INT(file_words__raise(getpid(), &as, &word, 1), 0);
	}
	for (size_t i = 0; i < page_size(); i++)
		if (pages[page_size() + i])
			CHECK_INT(i, 0);
	munmap(pages, 2 * page_size());
}

static void other_process_test(void)
{
	CLEANUP_CLOSE int fd = make_file();
	unsigned char *pages = map_twice(fd, PROT_READ, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	int ready[2], status = 0;
	pid_t child;
	char byte;

	CHECK_INT(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		CHECK_INT(read(ready[0], &byte, 1), 1);
		_exit(value_at(pages + page_size()));
	}
	CHECK_INT(raise_to(child, fd, page_size(), 3), 0);
	CHECK_INT(write(ready[1], "", 1), 1);
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK_INT(WEXITSTATUS(status), 3);
	CHECK_INT(value_at(pages + page_size()), 0);
	CHECK_INT(raise_to(child, fd, page_size(), 3), -ESRCH);
	close(ready[0]);
	close(ready[1]);
	munmap(pages, 2 * page_size());
}

static const struct tap_test tests[] = {
	{"a word is raised where it counts, and there only", raised_test},
	{"it is never lowered", never_lowered_test},
	{"other files are left alone", other_file_test},
	{"words that lie in no mapping are left alone", odd_offsets_test},
	{"so it is in another process, and one that has ended is said", other_process_test},
};

int main(void)
{
	return TAP_RUN(tests);
}
