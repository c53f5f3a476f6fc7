/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test programs that speak TAP, the Test Anything Protocol (version 12):
 *
 *   1..2
 *   ok 1 - a list of CPUs is read
 *   # test_cpus.c:31: cpu_list__parse("3-", &list): expected -22, got 0
 *   not ok 2 - a range needs its end
 *
 * A check that fails marks its test and goes on, so that one run shows all.
 */
#ifndef TRACEKIT_TEST_TAP_H
#define TRACEKIT_TEST_TAP_H

#include <stdbool.h>
#include <stddef.h>

struct tap_test {
	const char *name; /* what it shows, in words */
	void (*run)(void);
};

/*
 * Run all tests of an array, each by around(), which calls it with what it needs, or by itself.
 * The exit status of the program: 0 if none failed, else 1.
 */
#define TAP_RUN(tests)		  TAP_RUN_IN(NULL, tests)
#define TAP_RUN_IN(around, tests) tap_run(tests, sizeof(tests) / sizeof((tests)[0]), around)
int tap_run(const struct tap_test *tests, size_t nr, void (*around)(void (*test)(void)));

/* Say that the running test cannot be run here; the test returns then. */
void tap_skip(const char *reason);

/* CPU time that this program has used, in seconds: limits of time are measured by it. */
double tap_cpu_seconds(void);

/* A check in words of its own; returns holds. */
bool tap_check(bool holds, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
bool tap_check_int(long long actual, long long expected, const char *file, int line,
		   const char *what);
bool tap_check_str(const char *actual, const char *expected, const char *file, int line,
		   const char *what);

/* Each is true if it holds, for tests that cannot go on otherwise. */
#define CHECK(condition)                                                                           \
	tap_check((condition), __FILE__, __LINE__, "expected %s, got the contrary", #condition)
#define CHECK_INT(actual, expected)                                                                \
	tap_check_int((long long)(actual), (long long)(expected), __FILE__, __LINE__, #actual)
#define CHECK_STR(actual, expected) tap_check_str(actual, expected, __FILE__, __LINE__, #actual)

#endif
