/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system call that a tracepoint of the category syscalls belongs to. */
#ifndef TRACEKIT_CORE_PROBE_SYSCALL_NUMBERS_H
#define TRACEKIT_CORE_PROBE_SYSCALL_NUMBERS_H

#include <stdbool.h>

/*
 * The number of the native system call whose tracepoints are sys_enter_NAME and sys_exit_NAME; -1
 * if it is not known. NAME is the name of the function in the kernel, which can differ from the
 * name that programs use (newuname is uname(2)).
 */
int syscall_number(const char *name);

/* By its tracepoint, as in "syscalls:sys_enter_read"; *entry: not of the return. */
int syscall_of_tracepoint(const char *tracepoint, bool *entry);

#endif
