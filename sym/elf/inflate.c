// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/elf/inflate.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "sym/elf/file.h"
#include "sym/elf/work.h"
#include "sym/util/cleanup.h"

#define PIECE_SIZE ((size_t)256 * 1024)
/* The format lets a frame ask for 2 GB; compressors use 8 MB, at most 128. */
#define ZSTD_WINDOW_LOG_MAX 27

/* The bytes that are still to be read. */
struct source {
	const struct elf_file *elf;
	const struct work *work;
	uint64_t offset, left;
	unsigned char *piece;
};

/* The next piece, or 0 at the end of the section or of the file. */
static size_t next_piece(struct source *source)
{
	size_t wanted = source->left < PIECE_SIZE ? source->left : PIECE_SIZE;
	size_t got = elf_file__read(source->elf, source->piece, wanted, source->offset);

	work__charge(source->work, 1);
	source->offset += got;
	source->left -= got;
	return got;
}

/* zlib counts in 32 bits. */
static unsigned int room_of(size_t left)
{
	return left < UINT_MAX ? (unsigned int)left : UINT_MAX;
}

static int inflate_zlib(struct source *source, unsigned char *bytes, size_t size)
{
	z_stream stream = {0};
	size_t left = size;
	int err = inflateInit(&stream) == Z_OK ? Z_OK : Z_MEM_ERROR;

	if (err)
		return -ENOMEM;
	while (err == Z_OK && left) {
		unsigned int room = room_of(left);

		if (stream.avail_in == 0) {
			stream.avail_in = (unsigned int)next_piece(source);
			stream.next_in = source->piece;
			if (stream.avail_in == 0)
				break;
		}
		stream.next_out = bytes + (size - left);
		stream.avail_out = room;
		err = inflate(&stream, Z_NO_FLUSH);
		left -= room - stream.avail_out;
		/* Several streams, one behind the other, are one section. */
		if (err == Z_STREAM_END && left)
			err = inflateReset(&stream);
	}
	inflateEnd(&stream);
	if (err == Z_MEM_ERROR)
		return -ENOMEM;
	return left == 0 ? 0 : -EBADMSG;
}

static int inflate_zstd(struct source *source, unsigned char *bytes, size_t size)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_outBuffer out = {.dst = bytes, .size = size};
	int err = 0;

	if (!stream)
		return -ENOMEM;
	ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
	while (!err && out.pos < out.size) {
		ZSTD_inBuffer in = {.src = source->piece, .size = next_piece(source)};
		size_t before = out.pos;

		/* Without input it may still have output that it holds back. */
		do
			if (ZSTD_isError(ZSTD_decompressStream(stream, &out, &in)))
				err = -EBADMSG;
		while (!err && in.pos < in.size && out.pos < out.size);
		if (in.size == 0 && out.pos == before)
			err = -EBADMSG;
	}
	ZSTD_freeDStream(stream);
	return err;
}

int inflate_section(const struct elf_file *elf, enum compression compression, uint64_t offset,
		    uint64_t size, void *bytes, size_t inflated, const struct work *work)
{
	CLEANUP_FREE unsigned char *piece = malloc(PIECE_SIZE);
	struct source source = {
		.elf = elf, .work = work, .offset = offset, .left = size, .piece = piece};

	if (!piece)
		return -ENOMEM;
	return compression == COMPRESSION_ZSTD ? inflate_zstd(&source, bytes, inflated) :
						 inflate_zlib(&source, bytes, inflated);
}
