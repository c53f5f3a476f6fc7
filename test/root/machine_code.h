/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that programs generate, as bytes of this processor. */
#ifndef TRACEKIT_TEST_ROOT_MACHINE_CODE_H
#define TRACEKIT_TEST_ROOT_MACHINE_CODE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
typedef unsigned char code_unit;

/* jmp . */
static const code_unit code_spin_without_frame[] = {0xeb, 0xfe};
/* push %rbp; mov %rsp, %rbp; 1: pause; jmp 1b */
static const code_unit code_spin[] = {0x55, 0x48, 0x89, 0xe5, 0xf3, 0x90, 0xeb, 0xfc};
/* push %rbp; mov %rsp, %rbp; mov $110, %eax; syscall (getppid); pop %rbp; ret */
static const code_unit code_getppid[] = {0x55, 0x48, 0x89, 0xe5, 0xb8, 0x6e, 0x00,
					 0x00, 0x00, 0x0f, 0x05, 0x5d, 0xc3};
/* push %rbp; mov %rsp, %rbp; mov $1000000, %rax; 1: dec %rax; jnz 1b; pop %rbp; ret */
static const code_unit code_count[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0x40, 0x42, 0x0f, 0,	  0,
				       0,    0,	   0,	 0x48, 0xff, 0xc8, 0x75, 0xfb, 0x5d, 0xc3};
#elif defined(__aarch64__)
typedef uint32_t code_unit;

/* b . */
static const code_unit code_spin_without_frame[] = {0x14000000};
/* stp x29, x30, [sp, #-16]!; mov x29, sp; 1: yield; b 1b */
static const code_unit code_spin[] = {0xa9bf7bfd, 0x910003fd, 0xd503203f, 0x17ffffff};
/* stp x29, x30, [sp, #-16]!; mov x29, sp; mov x8, #173; svc #0 (getppid); ldp x29, x30, [sp], #16;
 * ret */
static const code_unit code_getppid[] = {0xa9bf7bfd, 0x910003fd, 0xd28015a8,
					 0xd4000001, 0xa8c17bfd, 0xd65f03c0};
/* stp, mov as above; mov x0, #1000000; 1: subs x0, x0, #1; b.ne 1b; ldp, ret as above */
static const code_unit code_count[] = {0xa9bf7bfd, 0x910003fd, 0xd2884800, 0xf2a001e0,
				       0xf1000400, 0x54ffffe1, 0xa8c17bfd, 0xd65f03c0};
#else
#error "what is the code of this processor?"
#endif

/* Write code where it can be called. */
static inline void put_code(void *place, const code_unit *code, size_t size)
{
	memcpy(place, code, size);
	__builtin___clear_cache((char *)place, (char *)place + size);
}

#endif
