/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every BPF file needs this: the types of the UAPI and the helpers.
 *
 * No kernel type appears in these programs: contexts go to helpers unread, so
 * that the programs load on kernels without BTF, and libbpf need not parse the
 * kernel's BTF. A program that must look into a kernel struct gets the offsets
 * from user space (task.bpf.h).
 */
#ifndef TRACEKIT_BPF_COMMON_H
#define TRACEKIT_BPF_COMMON_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h> /* needs the types of linux/bpf.h */
#include <stdbool.h>

#include "abi.h"

#define ARRAY_SIZE(array)    (sizeof(array) / sizeof((array)[0]))
#define READ_ONCE(x)	     (*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile typeof(x) *)&(x) = (value))

/* The idle task of a CPU is the only one without an ID; it is in no PID namespace, either. */
static __always_inline bool is_idle(void)
{
	return (__u32)bpf_get_current_pid_tgid() == 0;
}

/* The loop behind it is unrolled; also compiled for user space, where that does not matter. */
#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED
#endif

#endif
