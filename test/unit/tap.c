// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/unit/tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The running test. */
static struct {
	bool failed;
	const char *skipped; /* why; or NULL */
} current;

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void print_result(size_t number, const char *name)
{
	printf("%sok %zu - %s", current.failed ? "not " : "", number, name);
	if (current.skipped)
		printf(" # SKIP %s", current.skipped);
	putchar('\n');
}

int tap_run(const struct tap_test *tests, size_t nr, void (*around)(void (*test)(void)))
{
	bool failed = false;

	/* Lines must not be lost in a crash, nor written twice by a child. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..%zu\n", nr);
	for (size_t i = 0; i < nr; i++) {
		current.failed = false;
		current.skipped = NULL;
		if (around)
			around(tests[i].run);
		else
			tests[i].run();
		print_result(i + 1, tests[i].name);
		failed |= current.failed;
	}
	return failed;
}

void tap_skip(const char *reason)
{
	current.skipped = reason;
}

bool tap_check(bool holds, const char *file, int line, const char *format, ...)
{
	va_list args;

	if (holds)
		return true;
	current.failed = true;
	printf("# %s:%d: ", file_name(file), line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	return false;
}

bool tap_check_int(long long actual, long long expected, const char *file, int line,
		   const char *what)
{
	return tap_check(actual == expected, file, line, "%s: expected %lld (0x%llx), got %lld",
			 what, expected, (unsigned long long)expected, actual);
}

/* A line of TAP stays one line, whatever the text. */
static const char *quote(const char *text, char *quoted, size_t size)
{
	size_t used = 1;

	if (!text)
		return "NULL";
	quoted[0] = '"';
	for (; *text && used + 6 < size; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '\n')
			used += (size_t)sprintf(quoted + used, "\\n");
		else if (c < ' ' || c >= 0x7F)
			used += (size_t)sprintf(quoted + used, "\\x%02x", c);
		else
			quoted[used++] = (char)c;
	}
	snprintf(quoted + used, size - used, "\"");
	return quoted;
}

bool tap_check_str(const char *actual, const char *expected, const char *file, int line,
		   const char *what)
{
	bool equal = actual && expected ? !strcmp(actual, expected) : actual == expected;
	char actual_text[1024], expected_text[1024];

	return tap_check(equal, file, line, "%s: expected %s, got %s", what,
			 quote(expected, expected_text, sizeof(expected_text)),
			 quote(actual, actual_text, sizeof(actual_text)));
}

double tap_cpu_seconds(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}
