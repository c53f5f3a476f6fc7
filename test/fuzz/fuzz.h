/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All fuzz targets share this. */
#ifndef TRACEKIT_TEST_FUZZ_H
#define TRACEKIT_TEST_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Called by libFuzzer for each input; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Check what holds for every input. Unlike assert() it is not compiled away. */
#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__,           \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* A descriptor of a file that holds the input: the same for all, it need not be made again. */
static inline int open_input(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("input", MFD_CLOEXEC);
	REQUIRE(fd >= 0);
	REQUIRE(ftruncate(fd, 0) == 0);
	REQUIRE(pwrite(fd, data, size, 0) == (ssize_t)size);
	return fd;
}

/*
 * Repetitions of repetitions multiply, and libc compiles all of them: whoever types (a{99}){99}
 * means it. A fuzzer does not.
 */
static inline bool is_costly_regex(const char *regex)
{
	int repetitions = 0;

	for (; *regex && *regex != '{'; regex++)
		repetitions += *regex == '*' || *regex == '+' || *regex == '?';
	return *regex || repetitions > 4;
}

#endif
