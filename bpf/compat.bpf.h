/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where kernels differ, for BPF programs; each with the version that brought it. */
#ifndef TRACEKIT_BPF_COMPAT_H
#define TRACEKIT_BPF_COMPAT_H

#include "common.bpf.h"

/*
 * bpf_map_update_elem(). Its error is an int: until 6.4 (d7ba4cc900bf, "bpf:
 * return long from bpf_map_ops funcs") the verifier put a direct call to a
 * function that returns one in its place, and the upper half of the register is
 * then not the sign. Seen on 5.10 and 6.1: -E2BIG came as 4294967289.
 */
static __always_inline int map_update(void *map, const void *key, const void *value, __u64 flags)
{
	return (int)bpf_map_update_elem(map, key, value, flags);
}

#endif
