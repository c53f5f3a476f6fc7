/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86-64: arch.bpf.h says what is here. */
#ifndef TRACEKIT_BPF_ARCH_X86_64_H
#define TRACEKIT_BPF_ARCH_X86_64_H

#include <asm/ptrace.h>

#include "common.bpf.h"

typedef struct pt_regs user_regs;

#define USER_CS_64BIT 0x33

static __always_inline bool user_regs__is_64bit(const user_regs *regs)
{
	return regs->cs == USER_CS_64BIT;
}

/* True if the registers are those of user space. */
static __always_inline bool user_regs__is_user(const user_regs *regs)
{
	return regs->cs & 3;
}

static __always_inline __u64 user_regs__pc(const user_regs *regs)
{
	return regs->rip;
}

/* By the numbers of DWARF: System V ABI for AMD64, table 3.36. */
#define DWARF_REGISTERS	    16
#define DWARF_FRAME_POINTER 6
#define DWARF_STACK_POINTER 7
#define DWARF_BASE_REGISTER 3 /* see enum unwind_base */

static __always_inline void user_regs__to_dwarf(const user_regs *regs, __u64 *registers)
{
	registers[0] = regs->rax;
	registers[1] = regs->rdx;
	registers[2] = regs->rcx;
	registers[3] = regs->rbx;
	registers[4] = regs->rsi;
	registers[5] = regs->rdi;
	registers[6] = regs->rbp;
	registers[7] = regs->rsp;
	registers[8] = regs->r8;
	registers[9] = regs->r9;
	registers[10] = regs->r10;
	registers[11] = regs->r11;
	registers[12] = regs->r12;
	registers[13] = regs->r13;
	registers[14] = regs->r14;
	registers[15] = regs->r15;
}

/* The two words at a frame pointer are the last of their frame: above them is the caller's. */
#define FRAME_RECORD_ON_TOP true

/* The register in which a call leaves its return address; 0: none. */
#define LINK_REGISTER 0

static __always_inline __u64 user_regs__link(const user_regs *regs)
{
	(void)regs;
	return 0;
}

/* Loads are made in their order. */
static __always_inline const void *load_behind(__u64 value, const void *from)
{
	(void)value;
	asm volatile("" : : : "memory");
	return from;
}

/* The bytes that a call puts on the stack. */
#define CALL_PUSHES 8

/* The code at which a function with a return probe returns; it pushes so many bytes meanwhile. */
#define TRAMPOLINE_BYTES  64
#define INSTRUCTION_BYTES 15 /* at most */
#define TRAMPOLINE_PUSHES 24

/*
 * Since Linux 6.11 that code calls the kernel, which puts the return address in the place of the
 * first word that was pushed: from this byte on it is pop %r11; pop %rcx; ret.
 */
#define TRAMPOLINE_POPS 13

static __always_inline __u64 trampoline__below(__u64 byte)
{
	return (TRAMPOLINE_POPS + 4 - byte) / 2 * sizeof(__u64);
}

/* Where a function that has just been called will return to. */
static __always_inline bool dwarf__return_address(const __u64 *registers, __u64 *address)
{
	return !bpf_probe_read_user(address, sizeof(*address),
				    (const void *)registers[DWARF_STACK_POINTER]);
}

/*
 * Calls. A function without call-frame information that has pushed nothing, as clone3() of glibc
 * around its system call, has its return address where the ABI puts it. But who knows that it has
 * pushed nothing? The call in front of that address, which must lead to such a function.
 */

/* From the beginning of such a function to where it is. */
#define LEAF_BYTES 4096

static __always_inline bool user_call__leads_to(__u64 target, __u64 pc)
{
	return pc - target < LEAF_BYTES;
}

/* ... by the word at slot. */
static __always_inline bool user_call__leads_by(__u64 slot, __u64 pc)
{
	__u64 target = 0;

	return !bpf_probe_read_user(&target, sizeof(target), (const void *)slot) &&
	       user_call__leads_to(target, pc);
}

/* ... by the stub of a procedure linkage table that is at target: endbr64; bnd jmp *slot(%rip) */
static __always_inline bool user_call__leads_by_stub(__u64 target, __u64 pc)
{
	__u64 code = 0;

	if (bpf_probe_read_user(&code, sizeof(code), (const void *)target))
		return false;
	if ((__u32)code == 0xfa1e0ff3) {
		target += 4;
		if (bpf_probe_read_user(&code, sizeof(code), (const void *)target))
			return false;
	}
	if ((code & 0xff) == 0xf2) {
		target++;
		code >>= 8;
	}
	return (code & 0xffff) == 0x25ff &&
	       user_call__leads_by(target + 6 + (__s32)(code >> 16), pc);
}

/* The bytes of an indirect call with this ModRM byte; 0: it belongs to another instruction. */
static __always_inline __u32 user_call__bytes(__u32 modrm)
{
	__u32 mod = modrm >> 6, rm = modrm & 7;

	if ((modrm & 0x38) != 0x10)
		return 0;
	return 2 + (mod != 3 && rm == 4) + (mod == 1) + 4 * (mod == 2 || (mod == 0 && rm == 5));
}

/* True if the code in front of the return address address calls what pc is in, or can do so. */
static __always_inline bool user_call__is_of(__u64 address, __u64 pc)
{
	__u64 code = 0, operand;

	/* Its last byte is the upper one. */
	if (bpf_probe_read_user(&code, sizeof(code), (const void *)(address - sizeof(code))))
		return false;
	operand = address + (__s32)(code >> 32);
	if ((code >> 24 & 0xff) == 0xe8) /* call operand */
		return user_call__leads_to(operand, pc) || user_call__leads_by_stub(operand, pc);
	if ((code >> 16 & 0xffff) == 0x15ff) /* call *operand(%rip) */
		return user_call__leads_by(operand, pc);
	/* By registers that nobody has kept. */
	for (__u32 bytes = 2; bytes < sizeof(code); bytes++) {
		__u32 start = code >> (64 - 8 * bytes), modrm = start >> 8 & 0xff;

		/* call *table(,%register,8) has a longer operand than its ModRM byte tells. */
		if ((start & 0xff) == 0xff &&
		    (user_call__bytes(modrm) == bytes || (modrm == 0x14 && bytes == 7)))
			return true;
	}
	return false;
}

/* True: the program counter is behind the instruction that is being executed. */
static __always_inline bool user_regs__in_system_call(const user_regs *regs, const void *saved)
{
	(void)saved;
	return (__s64)regs->orig_rax >= 0;
}

/*
 * A breakpoint (int3) takes the place of an instruction. A thread that comes to it enters the
 * kernel with the program counter behind it, and has executed nothing of the instruction; then the
 * kernel sets the program counter back. But a thread that is stepped (X86_EFLAGS_TF) enters the
 * kernel behind each instruction that it has executed.
 */
static __always_inline bool user_regs__may_be_behind_breakpoint(const user_regs *regs)
{
	return !(regs->eflags & 1 << 8);
}

/* The place of the breakpoint that pc is behind, or pc if there is none. */
static __always_inline __u64 user_code__before_breakpoint(__u64 pc)
{
	__u8 code = 0;

	return !bpf_probe_read_user(&code, sizeof(code), (const void *)(pc - 1)) && code == 0xcc ?
		       pc - 1 :
		       pc;
}

/* The code address in a return address that was read from the stack. */
static __always_inline __u64 user_regs__code(__u64 address)
{
	return address;
}

/*
 * Read the registers that a signal interrupted. stack_pointer: its value when the handler has
 * returned: a struct ucontext is there, whose registers begin with r8 (asm/sigcontext.h: struct
 * sigcontext_64). words: room for 9. False if they cannot be read.
 */
static __always_inline bool user_signal__registers(__u64 stack_pointer, __u64 *registers, __u64 *pc,
						   __u64 *words)
{
	const __u64 at = stack_pointer + 40;

	if (bpf_probe_read_user(&registers[8], 8 * sizeof(__u64), (const void *)at) ||
	    bpf_probe_read_user(words, 9 * sizeof(__u64), (const void *)(at + 8 * sizeof(__u64))))
		return false;
	registers[5] = words[0];
	registers[4] = words[1];
	registers[6] = words[2];
	registers[3] = words[3];
	registers[1] = words[4];
	registers[0] = words[5];
	registers[2] = words[6];
	registers[7] = words[7];
	*pc = words[8];
	return true;
}

/* True if a signal called the handler that returns to address: the code there says so. */
static __always_inline bool user_signal__returns_at(__u64 address, bool is_leaf)
{
	/* mov $15 (rt_sigreturn), %rax; syscall */
	const __u64 code = 0x0f0000000fc0c748;
	__u64 there = 0;

	(void)is_leaf; /* C libraries have information about what is behind the first instruction */
	return !bpf_probe_read_user(&there, sizeof(there), (const void *)address) && there == code;
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

#endif
