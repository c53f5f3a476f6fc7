// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/mini_symbols.h"

#include <errno.h>
#include <lzma.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/util/cleanup.h"
#include "sym/elf_symbols.h"
#include "sym/work.h"

/*
 * The symbols of the largest browsers have some 40 MB. The dictionary of "xz -9" has 64 MB;
 * only what is written to of it is memory.
 */
#define OUTPUT_MAX (64 * 1024 * 1024)
#define MEMORY_MAX (80 * 1024 * 1024)

/* A unit of work takes as long as so many bytes of output; input is about as costly. */
#define BYTES_PER_WORK 16

#define PIECE (32 * 1024)

struct inflation {
	const struct elf_symbols *elf;
	const struct elf_section *section;
	uint64_t taken; /* bytes of the section that were read */
	struct work work;
	lzma_stream stream;
	uint8_t input[PIECE], output[PIECE];
};

/* The next bytes of the section; none at its end, or where the file ends before. */
static void refill(struct inflation *inflation)
{
	uint64_t left = inflation->section->size - inflation->taken;
	size_t wanted = left < PIECE ? (size_t)left : PIECE;
	size_t got = elf_symbols__read(inflation->elf, inflation->input, wanted,
				       inflation->section->offset + inflation->taken);

	inflation->taken += got;
	inflation->stream.next_in = inflation->input;
	inflation->stream.avail_in = got;
	work__charge(&inflation->work, 1 + got / BYTES_PER_WORK);
}

/* What has been inflated goes into the file. */
static int drain(struct inflation *inflation, int fd)
{
	size_t size = PIECE - inflation->stream.avail_out;

	work__charge(&inflation->work, 1 + size / BYTES_PER_WORK);
	if (inflation->stream.total_out > OUTPUT_MAX || !work__is_left(&inflation->work))
		return -EFBIG;
	for (size_t done = 0; done < size;) {
		ssize_t put = write(fd, inflation->output + done, size - done);

		if (put < 0 && errno != EINTR)
			return -errno;
		done += put > 0 ? (size_t)put : 0;
	}
	inflation->stream.next_out = inflation->output;
	inflation->stream.avail_out = PIECE;
	return 0;
}

static int inflate_into(struct inflation *inflation, int fd)
{
	int err = 0;

	inflation->stream.next_out = inflation->output;
	inflation->stream.avail_out = PIECE;
	while (!err) {
		lzma_ret ret;

		if (inflation->stream.avail_in == 0)
			refill(inflation);
		/* Without input, and with room for output, it makes progress or is done for. */
		ret = lzma_code(&inflation->stream,
				inflation->stream.avail_in ? LZMA_RUN : LZMA_FINISH);
		if (ret == LZMA_MEM_ERROR)
			return -ENOMEM;
		if (ret == LZMA_MEMLIMIT_ERROR)
			return -EFBIG;
		if (ret != LZMA_OK && ret != LZMA_STREAM_END)
			return -EBADMSG;
		err = drain(inflation, fd);
		if (ret == LZMA_STREAM_END)
			break;
	}
	return err;
}

static bool is_of_same_kind(const struct elf_symbols *elf, int fd)
{
	CLEANUP(elf_symbols__close) struct elf_symbols inflated = {.fd = -1};

	return elf_symbols__open(&inflated, fd) == 0 && inflated.machine == elf->machine &&
	       inflated.is_64bit == elf->is_64bit;
}

int mini_symbols__open(const struct elf_symbols *elf, uint64_t *work)
{
	const struct elf_section *section = elf_symbols__find_section(elf, ".gnu_debugdata", false);
	CLEANUP_FREE struct inflation *inflation = NULL;
	CLEANUP_CLOSE int fd = -1;
	int err = 0;

	if (!section)
		return -ENOENT;
	inflation = calloc(1, sizeof(*inflation));
	if (!inflation)
		return -ENOMEM;
	fd = memfd_create("gnu_debugdata", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	inflation->elf = elf;
	inflation->section = section;
	inflation->work = work__share(work, 2 * (OUTPUT_MAX / BYTES_PER_WORK));
	if (lzma_stream_decoder(&inflation->stream, MEMORY_MAX, 0) != LZMA_OK)
		return -ENOMEM;
	err = inflate_into(inflation, fd);
	lzma_end(&inflation->stream);
	if (!err && !is_of_same_kind(elf, fd))
		err = -EBADMSG;
	return err ? err : TAKE_FD(fd);
}
