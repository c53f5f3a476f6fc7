/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data that stepped.bpf.c and stepped.c exchange. */
#ifndef TRACEKIT_TEST_STEPPED_H
#define TRACEKIT_TEST_STEPPED_H

#include "bpf/abi.h"

/* The walk of a thread's user stack where it has left its CPU last. */
struct stepped_walk {
	__u32 tid;   /* written by user space only; in its PID namespace */
	__u32 taken; /* so many */
	__u8 walked; /* by tables; else the kernel has walked the stack */
	__u8 reserved[3];
	__u32 nr;
	__u64 frames[STACK_SLOTS];
};

#endif
