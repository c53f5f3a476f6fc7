/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The differences between processors, all of them: a file for each. Each has
 *
 *   user_regs                  the registers of user space, by their places in the ABI
 *   user_regs__is_64bit()      ... of a process whose stacks are walked
 *   user_regs__is_user()       ... and not those of the kernel
 *   user_regs__pc(), user_regs__to_dwarf()
 *   user_regs__in_system_call()
 *                              whether the thread is in one; saved: where the kernel has the
 *                              registers, or NULL
 *   user_regs__may_be_behind_breakpoint(), user_code__before_breakpoint()
 *                              of a thread in the kernel: where it is in its program
 *   user_regs__code()          what a word of the stack says of the code that it leads to
 *   DWARF_REGISTERS, DWARF_FRAME_POINTER, DWARF_STACK_POINTER
 *   DWARF_BASE_REGISTER        if frames are reached by one more (enum unwind_base)
 *   FRAME_RECORD_ON_TOP        true: the caller's stack pointer is behind the words at a frame
 *                              pointer; else somewhere above
 *   LINK_REGISTER, user_regs__link()
 *                              that a call leaves its return address in; 0: on the stack
 *   CALL_PUSHES                bytes that a call puts on the stack
 *   dwarf__return_address()    where a function that has just been called will return to
 *   TRAMPOLINE_BYTES, TRAMPOLINE_PUSHES, INSTRUCTION_BYTES
 *                              of return probes
 *   TRAMPOLINE_POPS, trampoline__below()
 *                              the byte of the trampoline from which on it pops, and how much is
 *                              on the stack below the return address at such a byte
 *   LEAF_BYTES, user_call__is_of()
 *                              whether code in front of an address calls a function
 *   load_behind()              loads from an address come behind the load of a value
 *   user_signal__returns_at(), user_signal__registers()
 *                              the frame of a signal, and what it has interrupted
 *   system_call_number()
 */
#ifndef TRACEKIT_BPF_ARCH_H
#define TRACEKIT_BPF_ARCH_H

#if defined(__TARGET_ARCH_x86)
#include "arch_x86_64.bpf.h"
#elif defined(__TARGET_ARCH_arm64)
#include "arch_arm64.bpf.h"
#else
#error "what is there to know of this processor?"
#endif

#endif
