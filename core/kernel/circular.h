/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACEKIT_CORE_KERNEL_CIRCULAR_H
#define TRACEKIT_CORE_KERNEL_CIRCULAR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Copy length bytes from a position of a stream. Its last size bytes, a power of two, are at data:
 * behind their end the stream goes on at their start.
 */
static inline void circular__copy(const unsigned char *data, size_t size, uint64_t position,
				  void *to, size_t length)
{
	size_t start = position & (size - 1);
	size_t first = length < size - start ? length : size - start;

	memcpy(to, data + start, first);
	memcpy((char *)to + first, data, length - first);
}

#endif
