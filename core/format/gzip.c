// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/gzip.h"

#include <errno.h>

/* windowBits of deflateInit2(): 16 more than the largest window makes it gzip. */
#define GZIP_WINDOW   (16 + 15)
#define GZIP_MEMORY   8
#define GZIP_STRENGTH 6

int gzip__open(struct gzip *gzip, FILE *out)
{
	*gzip = (struct gzip){.out = out};
	return deflateInit2(&gzip->stream, GZIP_STRENGTH, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			    Z_DEFAULT_STRATEGY) == Z_OK ?
		       0 :
		       -ENOMEM;
}

/* Compress all that stands in the stream. */
static void run(struct gzip *gzip, int flush)
{
	do {
		gzip->stream.next_out = gzip->buffer;
		gzip->stream.avail_out = sizeof(gzip->buffer);
		deflate(&gzip->stream, flush);
		fwrite(gzip->buffer, 1, sizeof(gzip->buffer) - gzip->stream.avail_out, gzip->out);
	} while (gzip->stream.avail_out == 0);
}

void gzip__write(struct gzip *gzip, const void *data, size_t size)
{
	gzip->stream.next_in = (uint8_t *)(uintptr_t)data;
	gzip->stream.avail_in = (uInt)size;
	run(gzip, Z_NO_FLUSH);
}

void gzip__finish(struct gzip *gzip)
{
	run(gzip, Z_FINISH);
}

void gzip__release(struct gzip *gzip)
{
	deflateEnd(&gzip->stream);
}
