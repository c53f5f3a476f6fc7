/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACEKIT_SYM_UTIL_UNPACK_H
#define TRACEKIT_SYM_UTIL_UNPACK_H

#include <stddef.h>

/*
 * The program has its BPF objects and the script of its pages compressed by zstd: a quarter of
 * their size. Inflate what the build has packed into object, size bytes, exactly as many as it has,
 * and return that. It never fails: the build makes both, object is static, and no memory is asked
 * for.
 */
const void *unpack(const void *packed, size_t packed_size, void *object, size_t size);

#endif
