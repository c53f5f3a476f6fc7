/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of a file that anybody may have written. One that is compressed by gzip, whatever its
 * name, is inflated: all that follows sees only what it inflates to.
 */
#ifndef TRACEKIT_CORE_INPUT_BYTES_H
#define TRACEKIT_CORE_INPUT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The most bytes that a file is inflated to: a megabyte of gzip can stand for a gigabyte. */
#define BYTES_INFLATED_MAX ((uint64_t)1024 * 1024 * 1024)

/* The most bytes of one line; what a line has more is skipped. */
#define BYTES_LINE_MAX (1024 * 1024)

/* All zero holds nothing. */
struct input_bytes {
	struct gzFile_s *file;
	unsigned char *buffer;
	size_t at, end; /* what is read, and not taken yet */
	uint64_t inflated;
	/*
	 * Why nothing follows: 0 at the end of the file; -EFBIG if it inflates to more than
	 * BYTES_INFLATED_MAX, -EBADMSG if it is damaged, -ENODATA if it is cut off (the last three
	 * of gzip alone), -ENOMEM, or the negative errno of read().
	 */
	int err;
};

struct input_line {
	char *text; /* BYTES_LINE_MAX + 1 bytes, with a NUL behind the line */
	size_t length;
	bool cut; /* the line is longer */
};

/* fd is closed by input_bytes__release(), or if this fails. Returns 0 or -ENOMEM. */
int input_bytes__open(struct input_bytes *bytes, int fd);
void input_bytes__release(struct input_bytes *bytes);

/* Read on behind what is not taken yet. Returns false if nothing follows, or there is no room. */
bool input_bytes__fill(struct input_bytes *bytes);

/* The next byte, which is not taken; EOF: there is none. */
static inline int input_bytes__next(struct input_bytes *bytes)
{
	return bytes->at < bytes->end || input_bytes__fill(bytes) ? bytes->buffer[bytes->at] : EOF;
}

/*
 * Take a line, without the newline and the blanks before it. Returns false if there is none: see
 * err.
 */
bool input_bytes__line(struct input_bytes *bytes, struct input_line *line);

/*
 * Take all that is left, at most max bytes. *all is allocated. Returns 0, -EFBIG if there are more,
 * -ENOMEM, or err.
 */
int input_bytes__all(struct input_bytes *bytes, size_t max, unsigned char **all, size_t *size);

/* Returns 0 or -ENOMEM. */
int input_line__init(struct input_line *line);
void input_line__release(struct input_line *line);

#endif
