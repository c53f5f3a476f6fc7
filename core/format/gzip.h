/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stream that is compressed (RFC 1952) on its way into a FILE. */
#ifndef TRACEKIT_CORE_FORMAT_GZIP_H
#define TRACEKIT_CORE_FORMAT_GZIP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

struct gzip {
	z_stream stream;
	FILE *out;
	uint8_t buffer[16384];
};

/* Returns 0 or -ENOMEM; then gzip__release() is not due. Errors of writing stay in the FILE. */
int gzip__open(struct gzip *gzip, FILE *out);
void gzip__write(struct gzip *gzip, const void *data, size_t size);

/* Nothing follows. */
void gzip__finish(struct gzip *gzip);
void gzip__release(struct gzip *gzip);

#endif
