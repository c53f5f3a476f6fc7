/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between processors: the registers of user space, by their places in the ABI. */
#ifndef TRACEKIT_BPF_ARCH_H
#define TRACEKIT_BPF_ARCH_H

#include <asm/ptrace.h>

#include "common.bpf.h"

#ifdef __TARGET_ARCH_x86

typedef struct pt_regs user_regs;

#define USER_CS_64BIT 0x33

static __always_inline bool user_regs__is_64bit(const user_regs *regs)
{
	return regs->cs == USER_CS_64BIT;
}

static __always_inline __u64 user_regs__pc(const user_regs *regs)
{
	return regs->rip;
}

static __always_inline __u64 user_regs__frame_pointer(const user_regs *regs)
{
	return regs->rbp;
}

/* Where a function that has just been called will return to. */
static __always_inline bool user_regs__return_address(const user_regs *regs, __u64 *address)
{
	return !bpf_probe_read_user(address, sizeof(*address), (const void *)regs->rsp);
}

/*
 * The call that a struct pt_regs of the kernel is about; -1 if it is none of the
 * native ones. With int $0x80 a 64-bit program makes 32-bit calls that look like
 * native ones here.
 */
static __always_inline __u64 system_call_number(const struct pt_regs *kernel_regs)
{
	struct {
		__u64 orig_rax, rip, cs;
	} regs;

	if (bpf_probe_read_kernel(&regs, sizeof(regs), &kernel_regs->orig_rax) ||
	    regs.cs != USER_CS_64BIT)
		return -1;
	return regs.orig_rax;
}

#else

typedef struct user_pt_regs user_regs;

#define PSTATE_32BIT 0x10

static __always_inline bool user_regs__is_64bit(const user_regs *regs)
{
	return !(regs->pstate & PSTATE_32BIT);
}

static __always_inline __u64 user_regs__pc(const user_regs *regs)
{
	return regs->pc;
}

static __always_inline __u64 user_regs__frame_pointer(const user_regs *regs)
{
	return regs->regs[29];
}

static __always_inline bool user_regs__return_address(const user_regs *regs, __u64 *address)
{
	*address = regs->regs[30];
	return true;
}

/* The kernel's struct pt_regs: that of user space, the first argument, the number. */
static __always_inline __u64 system_call_number(const void *kernel_regs)
{
	struct {
		struct user_pt_regs user;
		__u64 orig_x0;
		__s32 number;
	} regs;

	if (bpf_probe_read_kernel(&regs, sizeof(regs), kernel_regs) ||
	    !user_regs__is_64bit(&regs.user))
		return -1;
	return regs.number;
}

#endif

#endif
