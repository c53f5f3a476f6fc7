/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACEKIT_SYM_UTIL_DESCRIPTORS_H
#define TRACEKIT_SYM_UTIL_DESCRIPTORS_H

#include <stddef.h>

/*
 * Make these descriptors 0, 1, ..., and close all others but that of sym/util/debug_log.h. Returns
 * 0, -EMFILE if others cannot be closed, -EBADF if one is not open, -EINVAL if there are more than
 * DESCRIPTORS_KEPT_MAX, or another negative errno.
 */
#define DESCRIPTORS_KEPT_MAX 40
int descriptors__keep(const int *fds, size_t nr);

/*
 * Close all but that one and the nr in kept, which becomes sorted. Returns as descriptors__keep().
 */
int descriptors__close_others(int *kept, size_t nr);

/* A descriptor of the caller's own, -ENOENT if there is none to copy, or another negative errno. */
int descriptor__copy(int fd);

#endif
