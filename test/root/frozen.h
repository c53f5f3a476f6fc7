/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data that frozen.bpf.c and frozen.c exchange. */
#ifndef TRACEKIT_TEST_FROZEN_H
#define TRACEKIT_TEST_FROZEN_H

#include "bpf/abi.h"

/* A walk of a user stack. The program takes one whenever wanted has changed. */
struct frozen_sample {
	__u64 claims; /* by programs that run at a time */
	__u64 wanted; /* written by user space only */
	__u64 taken;  /* then becomes wanted */
	__u32 tid;    /* in the PID namespace of the caller */
	__s32 err;    /* of the signal that freezes the process, or 0 */
	__u8 walked;  /* by tables; else the kernel has walked the stack */
	__u8 reserved[3];
	__u32 nr;
	__u64 frames[STACK_SLOTS];
};

#endif
