/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread as on_off.bpf.c sees it. Times in nanoseconds, of CLOCK_MONOTONIC. */
#ifndef TRACEKIT_TEST_ROOT_ON_OFF_H
#define TRACEKIT_TEST_ROOT_ON_OFF_H

#include <linux/types.h>

struct on_time {
	__u64 first, last; /* when it left its CPU */
	__u64 on;	   /* how long it ran between first and last */
	__u64 switches;
	__u64 missed; /* it left twice without having come back */
	__u32 tid;
	__u32 reserved;
};

#endif
