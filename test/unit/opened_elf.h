/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An ELF file in memory, and the names that were found in it. */
#ifndef TRACEKIT_TEST_UNIT_OPENED_ELF_H
#define TRACEKIT_TEST_UNIT_OPENED_ELF_H

#include <stdbool.h>
#include <unistd.h>

#include "sym/elf/file.h"
#include "sym/util/arena.h"
#include "sym/util/cleanup.h"
#include "test/unit/elf_image.h"
#include "test/unit/go_image.h"
#include "test/unit/open_bytes.h"

struct opened {
	int fd;
	struct elf_file elf;
	struct arena names;
};

static inline void opened__close(struct opened *opened)
{
	elf_file__close(&opened->elf);
	close(opened->fd);
	arena__release(&opened->names);
}

#define CLEANUP_OPENED CLEANUP(opened__close)

static inline struct opened open_image(const struct elf_image *image)
{
	struct opened opened = {.fd = open_bytes(image->bytes, image->size), .elf = {.fd = -1}};

	CHECK_INT(elf_file__open(&opened.elf, opened.fd), 0);
	return opened;
}

static inline struct opened open_go_image(struct go_image_spec spec)
{
	CLEANUP(elf_image__free) struct elf_image image = go_image__make(&spec);

	return open_image(&image);
}

/* Cut off the last byte; false if there is none. */
static inline bool opened__cut(struct opened *opened)
{
	off_t size = lseek(opened->fd, 0, SEEK_END);

	return size > 0 && CHECK_INT(ftruncate(opened->fd, size - 1), 0);
}

#endif
