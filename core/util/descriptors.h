/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACEKIT_CORE_UTIL_DESCRIPTORS_H
#define TRACEKIT_CORE_UTIL_DESCRIPTORS_H

#include <stddef.h>

/* Close all from first on. Returns 0, or -EMFILE if that cannot be done. */
int descriptors__close_from(unsigned int first);

/* Make fd descriptor 0, and close all others. Returns as that, or -EBADF if fd is not open. */
int descriptors__keep_one(int fd);

/* Close all but the nr that are in kept, which becomes sorted. Returns as that. */
int descriptors__close_others(int *kept, size_t nr);

#endif
