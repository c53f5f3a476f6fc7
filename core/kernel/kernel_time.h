/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time that BPF programs see. */
#ifndef TRACEKIT_CORE_KERNEL_KERNEL_TIME_H
#define TRACEKIT_CORE_KERNEL_KERNEL_TIME_H

#include <stdint.h>

/*
 * Nanoseconds of CLOCK_MONOTONIC as bpf_ktime_get_ns() tells it. In a time namespace that of
 * user space, monotonic_now(), is another one (time_namespaces(7)); without /proc it is taken for
 * the same.
 */
uint64_t kernel_time__now(void);

#endif
