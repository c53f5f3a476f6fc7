/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words of a file that a process has mapped at two places: at one that it can write to, and before
 * that at another one, which it cannot write to any more.
 *
 * lld lets the part of a program that becomes read-only after relocation (RELRO) end, and its data
 * begin, in the same page of the file, which is mapped for both. The kernel counts the semaphore of
 * a USDT probe up where that page is writable first; when it counts down, only the other, the right
 * one, is. So the right one is counted up here: then the program sees it, and the kernel finds what
 * it counts down when the probes go, however the tracer ends.
 */
#ifndef TRACEKIT_SYM_PROCESS_FILE_WORDS_H
#define TRACEKIT_SYM_PROCESS_FILE_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What the kernel shows mappings of a file by; fstat() can say something else (overlayfs, btrfs).
 */
struct mapped_as {
	dev_t device;
	ino_t inode;
};

/* It maps a page of the file at fd, and reads nothing of it. Returns 0 or a negative errno. */
int mapped_as__find(struct mapped_as *as, int fd);

struct file_word {
	uint64_t offset;   /* of its two bytes in the file */
	uint64_t distance; /* from the place where it counts for nothing to the right one */
	uint16_t value;	   /* what it has to be at least */
};

/*
 * Raise those words that are less than their value. The memory that is written to belongs to the
 * program that pid was when its mappings were looked at, or has become since then: never to what
 * another process has. Returns 0, also if there are no such words; -ESRCH if the process has ended;
 * or another negative errno.
 */
int file_words__raise(pid_t pid, const struct mapped_as *as, const struct file_word *words,
		      size_t nr);

#endif
