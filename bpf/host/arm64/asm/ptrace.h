/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In the place of the kernel's header of this name for arm64, where the walk of that processor is
 * compiled for tests on another one.
 */
#ifndef TRACEKIT_BPF_HOST_ARM64_PTRACE_H
#define TRACEKIT_BPF_HOST_ARM64_PTRACE_H

#include <linux/types.h>

struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};

#endif
