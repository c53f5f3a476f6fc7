/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much memory there is for us, in bytes. */
#ifndef TRACEKIT_SYM_UTIL_MEMORY_H
#define TRACEKIT_SYM_UTIL_MEMORY_H

#include <stdint.h>
#include <stdio.h>

/* What the kernel says that programs can have without swapping: MemAvailable of /proc/meminfo. */
uint64_t memory__available(void);

/* What is left of the limit of a cgroup of version 2 at this path; UINT64_MAX if there is no limit.
 */
uint64_t memory__left_in_cgroup(const char *folder);

#endif
