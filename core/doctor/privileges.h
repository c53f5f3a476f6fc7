/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What we may do, as far as it counts for the kernel that traces. */
#ifndef TRACEKIT_CORE_DOCTOR_PRIVILEGES_H
#define TRACEKIT_CORE_DOCTOR_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A capability as a set of one. */
#define CAPABILITY(number) (1ULL << (number))

enum system_call {
	CALL_BPF,
	CALL_PERF_EVENT_OPEN,
	CALL_OTHER,
};

/* What becomes of whoever makes a system call, whatever it asks for. */
enum filtering {
	FILTER_NOTHING,
	FILTER_REFUSES,
	FILTER_KILLS,
};

struct privileges {
	uint64_t capabilities;		    /* the set of those that are effective */
	bool in_user_namespace;		    /* not the first: then none of them counts */
	enum filtering filters[CALL_OTHER]; /* of system calls, by seccomp */
};

void privileges__read(struct privileges *privileges);

bool privileges__have(const struct privileges *privileges, unsigned int capability);

/* Those of needs that we lack, whether or not they would count. */
uint64_t privileges__missing(const struct privileges *privileges, uint64_t needs);

/* Write the names of a set, as in "CAP_BPF and CAP_PERFMON": only those that tracing needs. */
void capabilities__names(uint64_t set, char *text, size_t size);

/* As setcap(8) takes them: "cap_bpf,cap_perfmon=ep". */
void capabilities__write_setcap(uint64_t set, char *text, size_t size);

#endif
