/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all fuzz targets share. */
#ifndef TRACEKIT_TEST_FUZZ_H
#define TRACEKIT_TEST_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Called by libFuzzer for each input; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold for every input. Unlike assert() it is not compiled away. */
#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__,           \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
