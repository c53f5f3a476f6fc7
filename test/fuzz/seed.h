/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For programs that write seeds: the files that fuzz targets begin with. */
#ifndef TRACEKIT_TEST_FUZZ_SEED_H
#define TRACEKIT_TEST_FUZZ_SEED_H

#include <stdio.h>

/* Returns 0, or 1 if the file could not be written; a message has then said so. */
static inline int seed__write(const char *directory, const char *name, const void *bytes,
			      size_t size)
{
	char path[4096];
	FILE *file;
	int err = 1;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "we");
	if (file) {
		err = fwrite(bytes, size, 1, file) != 1;
		err |= fclose(file) != 0;
	}
	if (err)
		perror(path);
	return err;
}

#endif
