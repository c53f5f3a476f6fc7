/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACEKIT_CORE_UTIL_PAGE_H
#define TRACEKIT_CORE_UTIL_PAGE_H

#include <stddef.h>
#include <unistd.h>

/* What the kernel maps memory by, in bytes. */
static inline size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

#endif
