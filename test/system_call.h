/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A system call that the caller makes itself: through libc there would be one more function, which
 * has no frame pointer.
 */
#ifndef TRACEKIT_TEST_SYSTEM_CALL_H
#define TRACEKIT_TEST_SYSTEM_CALL_H

#include <sys/syscall.h>

static inline __attribute__((always_inline)) void call_getppid(void)
{
#if defined(__x86_64__)
	long result = SYS_getppid;

	__asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long number __asm__("x8") = SYS_getppid;
	register long result __asm__("x0");

	__asm__ volatile("svc #0" : "=r"(result) : "r"(number) : "memory");
#else
#error "how does this processor call the kernel?"
#endif
}

#endif
