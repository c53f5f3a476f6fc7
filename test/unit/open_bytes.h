/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file in memory that holds what a test has made. */
#ifndef TRACEKIT_TEST_UNIT_OPEN_BYTES_H
#define TRACEKIT_TEST_UNIT_OPEN_BYTES_H

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/unit/tap.h"

/* A descriptor to be closed; or negative, which fails the test. */
static inline int open_bytes(const void *bytes, size_t size)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, bytes, size) != (ssize_t)size) {
		close(fd);
		fd = -1;
	}
	CHECK(fd >= 0);
	return fd;
}

#endif
