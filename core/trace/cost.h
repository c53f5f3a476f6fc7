/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trace costs: the time and the memory of our processes and of our BPF programs. */
#ifndef TRACEKIT_CORE_TRACE_COST_H
#define TRACEKIT_CORE_TRACE_COST_H

#include <stdint.h>
#include <sys/types.h>

struct bpf_object;

/*
 * Before the programs run: have the kernel take their time from now on (Linux 5.8, CAP_SYS_ADMIN),
 * which costs some 30 ns for each run of any program. Returns a descriptor that keeps it so, or a
 * negative errno.
 */
int cost__measure(void);

struct cost {
	uint64_t cpu_time;  /* in nanoseconds, of our processes, with those that have ended */
	uint64_t processes; /* that are there now */
	uint64_t resident;  /* bytes of their memory; what they share counts for each */
	uint64_t bpf_time;  /* in nanoseconds; 0: nobody has measured it */
	uint64_t maps;	    /* bytes of the maps of the object */
};

/* workload: a child of ours that is none of our processes, or 0. */
void cost__read(struct cost *cost, const struct bpf_object *object, pid_t workload);

#endif
