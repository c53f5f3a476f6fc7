// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "sym/util/cleanup.h"

#define ROOM ((size_t)64 * 1024)

int input_bytes__open(struct input_bytes *bytes, int fd)
{
	*bytes = (struct input_bytes){.buffer = malloc(ROOM)};
	/* zlib knows by the first bytes whether a file is compressed, and passes others on. */
	bytes->file = bytes->buffer ? gzdopen(fd, "rb") : NULL;
	if (bytes->file)
		return 0;
	close(fd);
	input_bytes__release(bytes);
	return -ENOMEM;
}

void input_bytes__release(struct input_bytes *bytes)
{
	if (bytes->file)
		gzclose(bytes->file);
	free(bytes->buffer);
	*bytes = (struct input_bytes){0};
}

/* Why zlib has no more; code: the errno of the read before. */
static int find_fault(struct input_bytes *bytes, int code)
{
	int fault;

	gzerror(bytes->file, &fault);
	switch (fault) {
	case Z_OK:
	case Z_STREAM_END:
		return 0;
	case Z_ERRNO:
		return code ? -code : -EIO;
	case Z_MEM_ERROR:
		return -ENOMEM;
	case Z_BUF_ERROR:
		return -ENODATA;
	default:
		return -EBADMSG;
	}
}

/* Returns how many bytes have come; 0: err says why. */
static size_t read_some(struct input_bytes *bytes, unsigned char *to, size_t size)
{
	int got;

	if (bytes->err)
		return 0;
	errno = 0;
	got = gzread(bytes->file, to, (unsigned int)size);
	if (got <= 0) {
		bytes->err = find_fault(bytes, errno);
		return 0;
	}
	if (!gzdirect(bytes->file))
		bytes->inflated += (unsigned int)got;
	if (bytes->inflated > BYTES_INFLATED_MAX) {
		bytes->err = -EFBIG;
		return 0;
	}
	return (size_t)got;
}

bool input_bytes__fill(struct input_bytes *bytes)
{
	size_t left = bytes->end - bytes->at, got;

	if (left == ROOM)
		return false;
	memmove(bytes->buffer, bytes->buffer + bytes->at, left);
	bytes->at = 0;
	bytes->end = left;
	got = read_some(bytes, bytes->buffer + left, ROOM - left);
	bytes->end += got;
	return got > 0;
}

/* ---- lines ---- */

int input_line__init(struct input_line *line)
{
	*line = (struct input_line){.text = malloc(BYTES_LINE_MAX + 1)};
	return line->text ? 0 : -ENOMEM;
}

void input_line__release(struct input_line *line)
{
	free(line->text);
	*line = (struct input_line){0};
}

static void append(struct input_line *line, const unsigned char *from, size_t nr)
{
	size_t room = BYTES_LINE_MAX - line->length;

	line->cut |= nr > room;
	if (nr > room)
		nr = room;
	memcpy(line->text + line->length, from, nr);
	line->length += nr;
}

/* Not strchr(), which finds the byte of zero as well. */
static bool is_space(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

bool input_bytes__line(struct input_bytes *bytes, struct input_line *line)
{
	const unsigned char *newline = NULL;

	line->length = 0;
	line->cut = false;
	if (input_bytes__next(bytes) == EOF)
		return false;
	do {
		const unsigned char *from = bytes->buffer + bytes->at;
		size_t nr = bytes->end - bytes->at;

		newline = memchr(from, '\n', nr);
		if (newline)
			nr = (size_t)(newline - from);
		append(line, from, nr);
		bytes->at += nr + (newline ? 1 : 0);
	} while (!newline && input_bytes__next(bytes) != EOF);
	while (line->length > 0 && is_space(line->text[line->length - 1]))
		line->length--;
	line->text[line->length] = '\0';
	return true;
}

/* ---- the whole ---- */

/* Twice as large. Returns 0 or -ENOMEM. */
static int grow(unsigned char **room, size_t *size)
{
	unsigned char *larger = realloc(*room, *size * 2);

	if (!larger)
		return -ENOMEM;
	*room = larger;
	*size *= 2;
	return 0;
}

int input_bytes__all(struct input_bytes *bytes, size_t max, unsigned char **all, size_t *size)
{
	size_t nr = bytes->end - bytes->at, capacity = 2 * ROOM, got = 1;
	CLEANUP_FREE unsigned char *room = malloc(capacity);

	if (!room)
		return -ENOMEM;
	memcpy(room, bytes->buffer + bytes->at, nr);
	bytes->at = bytes->end;
	for (; got && nr <= max; nr += got) {
		if (capacity - nr < ROOM && grow(&room, &capacity))
			return -ENOMEM;
		got = read_some(bytes, room + nr, ROOM);
	}
	if (bytes->err || nr > max)
		return bytes->err ? bytes->err : -EFBIG;
	*all = TAKE_POINTER(room);
	*size = nr;
	return 0;
}
