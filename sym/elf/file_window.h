/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many small pieces of a file, read in large ones: what is asked for in ascending
 * order is read once, in memory that does not follow the file.
 */
#ifndef TRACEKIT_SYM_ELF_FILE_WINDOW_H
#define TRACEKIT_SYM_ELF_FILE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct work;

#define FILE_WINDOW_SIZE ((size_t)64 * 1024)

/* Begins with nothing but its first two members. */
struct file_window {
	const struct elf_file *elf;
	const struct work *work; /* it pays for what is read */
	uint64_t start;		 /* in the file */
	size_t size;
	char bytes[FILE_WINDOW_SIZE];
};

/*
 * The wanted bytes at offset of the file, valid until the next call; wanted is at
 * most FILE_WINDOW_SIZE. Less if the file ends before: *size is how many there are.
 */
const char *file_window__at(struct file_window *window, uint64_t offset, size_t wanted,
			    size_t *size);

#endif
