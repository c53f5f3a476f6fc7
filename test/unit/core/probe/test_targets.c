// SPDX-License-Identifier: GPL-2.0-or-later
/* In a program whose probes are known, and in this one. */
#include "core/probe/targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/options/pid_list.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "test/unit/tap.h"

#define PROGRAM FIXTURES "/usdt_program"

/* Functions to be found, two of them at one place. */
__attribute__((noinline)) void targets_test_apple(void);
__attribute__((noinline)) void targets_test_pear(void);
void targets_test_pear_too(void) __attribute__((alias("targets_test_pear")));

static volatile int work;

void targets_test_apple(void)
{
	work++;
}

void targets_test_pear(void)
{
	work--;
}

static int find(struct target_list *list, const char *pattern, bool regexp,
		const struct pid_list *pids, struct error *error)
{
	static const struct pid_list nobody;
	CLEANUP(probespec__release) struct probespec spec = {0};
	int err = probespec__parse(&spec, pattern, regexp, error);

	return err ? err : target_list__find(list, &spec, pids ? pids : &nobody, error);
}

/* The printed targets of a pattern, or the error. */
static const char *listed(const char *pattern, bool regexp, const struct pid_list *pids)
{
	CLEANUP(target_list__release) struct target_list list = {0};
	static char result[4096];
	struct error error = {0};
	CLEANUP_FREE char *text = NULL;
	size_t size;
	FILE *out;

	if (find(&list, pattern, regexp, pids, &error)) {
		CHECK_INT(list.nr, 0);
		snprintf(result, sizeof(result), "%s", error.text);
		return result;
	}
	out = open_memstream(&text, &size);
	target_list__print(&list, out);
	fclose(out);
	snprintf(result, sizeof(result), "%s", text);
	return result;
}

static void usdt_probes(void)
{
	CHECK_STR(listed("u:" PROGRAM ":*", false, NULL),
		  "u:" PROGRAM ":tracekit_test:twice\nu:" PROGRAM ":tracekit_test:watched\n");
	CHECK_STR(listed("u:" PROGRAM ":trace*:w*", false, NULL),
		  "u:" PROGRAM ":tracekit_test:watched\n");
	CHECK_STR(listed("u:" PROGRAM ":^t.*e$", true, NULL),
		  "u:" PROGRAM ":tracekit_test:twice\n");
	CHECK_STR(listed("u:" PROGRAM ":twize", false, NULL),
		  "'u:" PROGRAM ":twize' matches none of the USDT probes of " PROGRAM
		  " (did you mean 'twice'?)");
	CHECK_STR(listed("u:" PROGRAM ":other:twice", false, NULL),
		  "'u:" PROGRAM ":other:twice' matches none of the USDT probes of " PROGRAM);
}

/* The places of a probe are targets of their own, and one probe for people. */
static void places_of_a_probe(void)
{
	CLEANUP(target_list__release) struct target_list list = {0};
	struct error error = {0};

	CHECK_INT(find(&list, "u:" PROGRAM ":*", false, NULL, &error), 0);
	if (!CHECK_INT(list.nr, 3))
		return;
	CHECK_INT(list.kind, PROBE_USDT);
	CHECK_INT(list.probes, 2);
	CHECK_INT(list.nr_files, 1);
	CHECK_INT(list.without_place, 0);
	CHECK_STR(list.targets[0].name, "tracekit_test:twice");
	CHECK(list.targets[0].address < list.targets[1].address);
	CHECK_INT(list.targets[0].semaphore, 0);
	CHECK(list.targets[2].semaphore != 0);
}

static void functions_of_this_program(void)
{
	CLEANUP(target_list__release) struct target_list list = {0};
	struct error error = {0};

	/* The linker leaves out functions that nobody calls. */
	targets_test_apple();
	targets_test_pear();
	CHECK_INT(find(&list, "/proc/self/exe:targets_test_*", false, NULL, &error), 0);
	if (!CHECK_INT(list.nr, 2))
		return;
	CHECK_INT(list.kind, PROBE_USER_FUNCTION);
	CHECK_INT(list.probes, 2);
	CHECK_STR(list.targets[0].name, "targets_test_apple");
	CHECK_STR(list.targets[1].name, "targets_test_pear");
	CHECK(list.targets[0].address && list.targets[1].address);
	CHECK(list.targets[0].address != list.targets[1].address);
	CHECK_INT(list.indirect, 0);
}

/* Two processes that have one file are one target. */
static void one_file_of_two_processes(void)
{
	pid_t pids[] = {getpid(), getppid()};
	const struct pid_list list = {.pids = pids, .nr = ARRAY_SIZE(pids)};

	CHECK_STR(listed(PROGRAM ":main", false, &list), PROGRAM ":main\n");
}

static void files_that_are_none(void)
{
	char folder[] = "/tmp/targets-XXXXXX", path[64], pattern[80], expected[128];
	FILE *file;

	if (!CHECK(mkdtemp(folder)))
		return;
	snprintf(path, sizeof(path), "%s/text", folder);
	snprintf(pattern, sizeof(pattern), "%s:main", path);
	snprintf(expected, sizeof(expected), "'%s': No such file or directory", path);
	CHECK_STR(listed(pattern, false, NULL), expected);
	file = fopen(path, "we");
	CHECK(file && fputs("text", file) >= 0 && !fclose(file));
	snprintf(expected, sizeof(expected), "'%s' is no ELF file", path);
	CHECK_STR(listed(pattern, false, NULL), expected);
	unlink(path);
	snprintf(pattern, sizeof(pattern), "%s:main", folder);
	snprintf(expected, sizeof(expected), "'%s' is no regular file", folder);
	CHECK_STR(listed(pattern, false, NULL), expected);
	rmdir(folder);
	CHECK_STR(listed("no-such-program:main", false, NULL),
		  "'no-such-program' is no library that the loader finds, and no program in PATH; "
		  "give a path");
}

static const struct tap_test tests[] = {
	{"USDT probes, by glob, provider and expression, and what is near", usdt_probes},
	{"a probe of several places", places_of_a_probe},
	{"functions of this program; two names of one are one", functions_of_this_program},
	{"a file that two processes have is one", one_file_of_two_processes},
	{"files that are no programs", files_that_are_none},
};

int main(void)
{
	return TAP_RUN(tests);
}
