/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings of the kernel. */
#ifndef TRACEKIT_CORE_KERNEL_SYSCTL_H
#define TRACEKIT_CORE_KERNEL_SYSCTL_H

#include <stdbool.h>

/* The kernel's own default of kernel.perf_event_max_stack. */
#define SYSCTL_MAX_STACK 127

/* Read a number in a file below /proc/sys; false if it cannot be read. */
bool sysctl__read(const char *name, long *value);

#endif
