// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/elf/file_window.h"

#include "sym/elf/file.h"
#include "sym/elf/work.h"

/* A unit of work takes as long as the copying of so many bytes. */
#define BYTES_PER_WORK 64

static void move_to(struct file_window *window, uint64_t offset)
{
	window->start = offset;
	window->size = elf_file__read(window->elf, window->bytes, sizeof(window->bytes), offset);
	work__charge(window->work, 1 + window->size / BYTES_PER_WORK);
}

const char *file_window__at(struct file_window *window, uint64_t offset, size_t wanted,
			    size_t *size)
{
	uint64_t at = offset - window->start; /* huge if it lies before */

	/* A window that is not full ends where the file does. */
	if (at > window->size || (window->size - at < wanted &&
				  (window->size == 0 || window->size == sizeof(window->bytes)))) {
		move_to(window, offset);
		at = 0;
	}
	*size = window->size - at < wanted ? window->size - at : wanted;
	return window->bytes + at;
}
