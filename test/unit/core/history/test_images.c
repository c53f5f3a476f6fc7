// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/history/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/tap.h"

static struct process_images *images;

static void map(pid_t pid, uint64_t start, const char *path)
{
	const struct sym_mapping mapping = {
		.start = start, .end = start + 4096, .offset = 8192, .inode = 7, .path = path};

	process_images__map(images, pid, &mapping);
}

/* An image as "PARENT[ whole]: START PATH, ...", or "none". */
static const char *show(pid_t pid)
{
	static char text[512];
	const struct sym_image *image = process_images__find(images, pid);
	size_t used;

	if (!image)
		return "none";
	used = (size_t)snprintf(text, sizeof(text), "%d%s:", (int)image->parent,
				image->whole ? " whole" : "");
	for (size_t i = 0; i < image->nr && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " %llx %s",
					 (unsigned long long)image->mappings[i].start,
					 image->mappings[i].path);
	return text;
}

static void with_images(void (*test)(void))
{
	if (!CHECK_INT(process_images__new(&images), 0))
		return;
	test();
	process_images__free(images);
}

static void programs_test(void)
{
	CHECK_STR(show(1), "none");
	process_images__exec(images, 1);
	CHECK_STR(show(1), "0 whole:");
	map(1, 0x1000, "/bin/a");
	map(1, 0x5000, "/lib/c");
	CHECK_STR(show(1), "0 whole: 1000 /bin/a 5000 /lib/c");
	CHECK_INT(process_images__find(images, 1)->mappings[1].offset, 8192);
	CHECK_INT(process_images__find(images, 1)->mappings[1].inode, 7);
	process_images__exec(images, 1);
	CHECK_STR(show(1), "0 whole:");
	map(1, 0x2000, "/bin/b");
	CHECK_STR(show(1), "0 whole: 2000 /bin/b");
	CHECK_STR(show(2), "none");
}

static void forks_test(void)
{
	/* Of one that was there before: it stands on that. */
	process_images__fork(images, 11, 10);
	CHECK_STR(show(11), "10:");
	map(11, 0x1000, "/lib/late");
	CHECK_STR(show(11), "10: 1000 /lib/late");
	/* Its child has what it has, and does not follow it any further. */
	process_images__fork(images, 12, 11);
	map(11, 0x2000, "/lib/later");
	CHECK_STR(show(12), "10: 1000 /lib/late");
	CHECK_STR(show(11), "10: 1000 /lib/late 2000 /lib/later");
	/* Of a program that is known from its start. */
	process_images__exec(images, 20);
	map(20, 0x1000, "/bin/sh");
	process_images__fork(images, 21, 20);
	CHECK_STR(show(21), "20 whole: 1000 /bin/sh");
	process_images__exec(images, 21);
	CHECK_STR(show(21), "0 whole:");
	CHECK_STR(show(20), "0 whole: 1000 /bin/sh");
	/* A PID that was another's. */
	process_images__fork(images, 20, 10);
	CHECK_STR(show(20), "10:");
}

static void not_watched_test(void)
{
	map(5, 0x1000, "/lib/x");
	CHECK_STR(show(5), "none");
}

static void forgotten_test(void)
{
	process_images__exec(images, 1);
	map(1, 0x1000, "/bin/a");
	process_images__forget_all(images);
	CHECK_STR(show(1), "none");
	map(1, 0x2000, "/bin/a");
	CHECK_STR(show(1), "none");
}

/* Those that were told of longest ago go, whoever is the largest. */
static void many_test(void)
{
	static char path[3000];

	memset(path, 'x', sizeof(path) - 1);
	process_images__exec(images, 1);
	map(1, 0x1000, "/bin/a");
	for (pid_t pid = 100; pid < 100 + 400; pid++) {
		process_images__exec(images, pid);
		map(1, 0x2000, "");
	}
	CHECK(process_images__find(images, 1) != NULL);
	for (pid_t pid = 1000; pid < 1000 + 600; pid++)
		process_images__exec(images, pid);
	CHECK_STR(show(1), "none");
	CHECK_STR(show(1599), "0 whole:");
	/* Mappings of one, and of all, are bounded. */
	for (int i = 0; i < 1000; i++)
		map(1599, (uint64_t)i * 4096, path);
	CHECK(process_images__find(images, 1599)->nr > 0);
	CHECK(process_images__find(images, 1599)->nr < 50);
	for (pid_t pid = 1000; pid < 1000 + 600; pid++)
		for (int i = 0; i < 100; i++)
			map(pid, (uint64_t)i * 4096, path);
	CHECK_STR(show(1599), "none");
	CHECK(process_images__find(images, 1598)->nr > 0);
}

static void fork_of_many_test(void)
{
	process_images__exec(images, 1);
	for (int i = 0; i < 1000; i++)
		map(1, (uint64_t)i * 4096, "/some/library/of/a/program");
	for (pid_t pid = 2; pid < 5000; pid++)
		process_images__fork(images, pid, pid - 1);
	CHECK(process_images__find(images, 4999)->nr > 100);
}

/* As many images as there may be: the parent's is the oldest, and the one that is needed. */
static void fork_of_oldest_test(void)
{
	process_images__exec(images, 1);
	map(1, 0x1000, "/bin/a");
	for (pid_t pid = 2; pid < 1000; pid++) {
		process_images__fork(images, pid, 1);
		if (!CHECK_STR(show(pid), "1 whole: 1000 /bin/a"))
			return;
	}
}

/* Likewise as many bytes. */
static void fork_of_large_test(void)
{
	process_images__exec(images, 1);
	for (uint64_t i = 1; i <= 200; i++)
		map(1, i * 4096, "/some/library/of/a/program");
	for (pid_t pid = 2; pid < 500; pid++) {
		const struct sym_image *child;

		process_images__fork(images, pid, 1);
		child = process_images__find(images, pid);
		if (!CHECK_INT(child->nr, 200) ||
		    !CHECK_STR(child->mappings[199].path, "/some/library/of/a/program"))
			return;
	}
}

static const struct tap_test tests[] = {
	{"a program has what it maps, until the next one", programs_test},
	{"a process begins with what its parent has", forks_test},
	{"of a process that was there before nothing is known", not_watched_test},
	{"all can be forgotten", forgotten_test},
	{"memory is bounded", many_test},
	{"a chain of forks of a large program", fork_of_many_test},
	{"a child of the one that was told of longest ago", fork_of_oldest_test},
	{"children of a large program", fork_of_large_test},
};

int main(void)
{
	return TAP_RUN_IN(with_images, tests);
}
