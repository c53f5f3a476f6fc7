// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "test/unit/read_stacks.h"
#include "test/unit/tap.h"

/* What one of its files holds. */
static const char *text_of(int fd)
{
	static char text[256];
	FILE *out = fmemopen(text, sizeof(text), "w");

	CHECK_INT(confined__copy(fd, out), 0);
	fclose(out);
	return text;
}

static int run(struct confined *confined, int (*work)(const void *, struct error *),
	       struct error *error)
{
	CLEANUP_CLOSE int first = make_file("first", 5);
	CLEANUP_CLOSE int second = make_file("second", 6);
	const int inputs[] = {first, second};
	const struct confined_work job = {
		.run = work, .argument = "argument", .inputs = inputs, .nr_inputs = 2};

	memset(error, 'x', sizeof(*error));
	return confined__run(confined, &job, error);
}

/* "argument first second", and in the result whether a file can be opened. */
static int copy_inputs(const void *argument, struct error *error)
{
	CLEANUP_FCLOSE FILE *result = confined__open_result();
	char first[16] = "", second[16] = "";

	(void)error;
	if (read(confined__input(0), first, sizeof(first)) != 5 ||
	    read(confined__input(1), second, sizeof(second)) != 6)
		return -EIO;
	printf("%s %s %s", (const char *)argument, first, second);
	fprintf(result, "%s", open("/dev/null", O_RDONLY) < 0 ? strerror(errno) : "opened");
	return 1;
}

static void inputs_and_results(void)
{
	CLEANUP(confined__release) struct confined confined = CONFINED_NONE;
	struct error error;

	CHECK_INT(run(&confined, copy_inputs, &error), 1);
	CHECK_STR(text_of(confined.out), "argument first second");
	CHECK_STR(text_of(confined.result), "Operation not permitted");
	CHECK_STR(error.text, "");
}

static int fail(const void *argument, struct error *error)
{
	(void)argument;
	return error__set(error, -EIO, "%s", "");
}

static int die(const void *argument, struct error *error)
{
	(void)argument;
	(void)error;
	__builtin_trap();
}

static void failures(void)
{
	CLEANUP(confined__release) struct confined confined = CONFINED_NONE;
	struct error error;

	CHECK_INT(run(&confined, fail, &error), -EINVAL);
	CHECK_STR(error.text, "");
}

static void killed(void)
{
	CLEANUP(confined__release) struct confined confined = CONFINED_NONE;
	struct error error;

	CHECK_INT(run(&confined, die, &error), -EIO);
	CHECK_STR(error.text,
		  "the child that reads the files was ended by signal 4 (Illegal instruction)");
}

static const struct tap_test tests[] = {
	{"a child has its inputs and its results, and opens no file", inputs_and_results},
	{"a child that fails", failures},
	{"a child that a signal ends", killed},
};

int main(void)
{
	return TAP_RUN(tests);
}
