/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The questions and answers of kernel_names.bpf.c: addresses in, "%pS" out. */
#ifndef TRACEKIT_BPF_KERNEL_NAMES_H
#define TRACEKIT_BPF_KERNEL_NAMES_H

#include <linux/types.h>

/* KSYM_SYMBOL_LEN of the kernel: name (512), offsets, module, build id; rounded up. */
#define KERNEL_NAME_LEN	  704
#define KERNEL_NAME_BATCH 32

struct kernel_names {
	__u64 nr;
	__u64 addresses[KERNEL_NAME_BATCH];
	char names[KERNEL_NAME_BATCH][KERNEL_NAME_LEN];
};

#endif
