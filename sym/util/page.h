/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACEKIT_SYM_UTIL_PAGE_H
#define TRACEKIT_SYM_UTIL_PAGE_H

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/* The unit in which the kernel maps memory, in bytes. */
static inline size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Memory that is shared with the kernel: size bytes at offset of what fd stands for. No child
 * of ours has it, since some read what anyone may have written. MAP_FAILED on failure.
 */
static inline void *page_map(int fd, size_t size, int protection, size_t offset)
{
	void *mapped = mmap(NULL, size, protection, MAP_SHARED, fd, (off_t)offset);

	/* No kernel refuses this for mapped memory. */
	if (mapped != MAP_FAILED)
		(void)madvise(mapped, size, MADV_DONTFORK);
	return mapped;
}

#endif
