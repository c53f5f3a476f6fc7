/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm64: arch.bpf.h says what is here. */
#ifndef TRACEKIT_BPF_ARCH_ARM64_H
#define TRACEKIT_BPF_ARCH_ARM64_H

#include <asm/ptrace.h>

#include "common.bpf.h"
#include "config.bpf.h"

typedef struct user_pt_regs user_regs;

#define PSTATE_32BIT 0x10
#define PSTATE_LEVEL 0xc /* 0: of user space */

static __always_inline bool user_regs__is_64bit(const user_regs *regs)
{
	return !(regs->pstate & (PSTATE_32BIT | PSTATE_LEVEL));
}

/* True if the registers are those of user space: of exception level 0. */
static __always_inline bool user_regs__is_user(const user_regs *regs)
{
	return !(regs->pstate & PSTATE_LEVEL);
}

static __always_inline __u64 user_regs__pc(const user_regs *regs)
{
	return regs->pc;
}

/* By the numbers of DWARF: DWARF for the Arm 64-bit Architecture, 4.1. */
#define DWARF_REGISTERS	    32
#define DWARF_FRAME_POINTER 29
#define DWARF_STACK_POINTER 31

static __always_inline void user_regs__to_dwarf(const user_regs *regs, __u64 *registers)
{
	/* The verifier allows that a context is read at constant offsets only. */
	UNROLLED
	for (int i = 0; i < 31; i++)
		registers[i] = regs->regs[i];
	registers[31] = regs->sp;
}

/*
 * An address that is computed with what a load has brought is not loaded from before that. The 0 is
 * computed when the program runs: the compiler does not see it, and the verifier knows that it is
 * 0, but changes no instruction for it.
 */
static __always_inline const void *load_behind(__u64 value, const void *from)
{
#ifdef __bpf__
	asm volatile("%[value] &= 0" : [value] "+r"(value) : : "memory");
#else
	value = 0; /* nobody changes the tables of a walk in user space */
#endif
	return (const char *)from + value;
}

/*
 * The two words at a frame pointer are anywhere in their frame, with GCC at its bottom: how far up
 * the caller's stack pointer is nobody knows by them.
 */
#define FRAME_RECORD_ON_TOP false

/* The register in which a call leaves its return address. */
#define LINK_REGISTER 30

static __always_inline __u64 user_regs__link(const user_regs *regs)
{
	return regs->regs[LINK_REGISTER];
}

#define CALL_PUSHES	  0
#define TRAMPOLINE_BYTES  4
#define INSTRUCTION_BYTES 4
#define TRAMPOLINE_PUSHES 0
#define TRAMPOLINE_POPS	  TRAMPOLINE_BYTES /* it pops nothing */

static __always_inline __u64 trampoline__below(__u64 byte)
{
	return byte;
}

static __always_inline bool dwarf__return_address(const __u64 *registers, __u64 *address)
{
	*address = registers[30];
	return true;
}

/*
 * Calls, as those of x86-64: the one in front of the address in x30 must lead to a function without
 * call-frame information. One that has called others has its own address there, behind such a call.
 */
#define LEAF_BYTES 4096

/* True if the code in front of the return address address calls what pc is in, or can do so. */
static __always_inline bool user_call__is_of(__u64 address, __u64 pc)
{
	__u32 code = 0;

	address -= sizeof(code);
	if (bpf_probe_read_user(&code, sizeof(code), (const void *)address))
		return false;
	if (code >> 26 == 0x25) /* bl */
		return pc - (address + ((__s64)(__s32)(code << 6) >> 4)) < LEAF_BYTES;
	/* blr, and its forms with pointer authentication: by a register that nobody has kept. */
	return ((code & 0xfffffc1f) == 0xd63f0000 || (code & 0xfefff800) == 0xd63f0800) &&
	       address - pc + LEAF_BYTES >= 2 * LEAF_BYTES;
}

/*
 * Behind those of user space, and one word (orig_x0), the kernel has the number of the system call;
 * negative outside of one (struct pt_regs of arch/arm64/include/asm/ptrace.h). Where that cannot be
 * read, the walk looks at the next instruction, mostly of the same rule.
 */
static __always_inline bool user_regs__in_system_call(const user_regs *regs, const void *saved)
{
	__s32 number = -1;

	if (saved)
		(void)bpf_probe_read_kernel(&number, sizeof(number),
					    (const char *)saved + sizeof(*regs) + sizeof(__u64));
	return number >= 0;
}

/* Breakpoints leave the program counter where it is. */
static __always_inline bool user_regs__may_be_behind_breakpoint(const user_regs *regs)
{
	(void)regs;
	return false;
}

static __always_inline __u64 user_code__before_breakpoint(__u64 pc)
{
	return pc;
}

/* The code address in a return address from the stack: no signature (pointer authentication). */
static __always_inline __u64 user_regs__code(__u64 address)
{
	return address & ((1ULL << config.address_bits) - 1);
}

/*
 * Read the registers that a signal interrupted. stack_pointer: its value when the handler has
 * returned: a siginfo_t of 128 bytes is there, and a struct ucontext, whose registers are behind
 * the address of a fault (asm/sigcontext.h). words: room for 2. False if they cannot be read.
 */
static __always_inline bool user_signal__registers(__u64 stack_pointer, __u64 *registers, __u64 *pc,
						   __u64 *words)
{
	const __u64 at = stack_pointer + 128 + 176 + 8;

	if (bpf_probe_read_user(registers, 32 * sizeof(__u64), (const void *)at) ||
	    bpf_probe_read_user(words, 2 * sizeof(__u64), (const void *)(at + 32 * sizeof(__u64))))
		return false;
	*pc = words[0];
	return true;
}

/*
 * True if a signal called the handler that returns to address: the code there says so. A thread can
 * also be in that code itself, or in the call it makes: is_leaf. The vDSO has no information about
 * it, on purpose.
 */
static __always_inline bool user_signal__returns_at(__u64 address, bool is_leaf)
{
	/* mov x8, #139 (rt_sigreturn); svc #0 */
	const __u64 code = 0xd4000001d2801168;
	__u64 there = 0;

	UNROLLED
	for (int i = 0; i < 3; i++) {
		if (!bpf_probe_read_user(&there, sizeof(there), (const void *)(address - 4 * i)) &&
		    there == code)
			return true;
		if (!is_leaf)
			return false;
	}
	return false;
}

/*
 * The kernel's struct pt_regs: user space's own, the first argument, the number. All of it would be
 * 288 bytes of the stack, of which there are 512 for all functions together.
 */
static __always_inline __u64 system_call_number(const void *kernel_regs)
{
	const struct user_pt_regs *user = kernel_regs;
	__u64 pstate;
	struct {
		__u64 orig_x0;
		__s32 number;
		__u32 reserved;
	} call;

	if (bpf_probe_read_kernel(&pstate, sizeof(pstate), &user->pstate) ||
	    pstate & (PSTATE_32BIT | PSTATE_LEVEL) ||
	    bpf_probe_read_kernel(&call, sizeof(call), user + 1))
		return -1;
	return (__u64)(__s64)call.number;
}

#endif
