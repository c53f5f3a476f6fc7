/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the ways of attaching share; only attach*.c include it. */
#ifndef TRACEKIT_CORE_PROBE_ATTACHMENT_H
#define TRACEKIT_CORE_PROBE_ATTACHMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/probe/attach.h"

struct bpf_program;
struct target;

/* Of the kernel, which libc does not know. */
#ifndef ENOTSUPP
#define ENOTSUPP 524
#endif

/* The programs of bpf/probes.bpf.h. */
enum probe_program {
	KERNEL_FUNCTION,
	USER_CODE,
	RAW_TRACEPOINT,
	PERF_TRACEPOINT,
	SYS_ENTER,
	SYS_EXIT,
	PERF_SYS_ENTER,
	PERF_SYS_EXIT,
	NR_PROBE_PROGRAMS,
};

/* What keeps something attached. */
struct hook {
	int fd;
	bool slow;	     /* a perf event: the kernel waits for each that is closed */
	bool misses_in_link; /* some of what the program does not see is counted by the link */
};

struct attachment {
	const struct target_list *targets;
	const struct pid_list *pids;
	bool multi;	       /* functions and user code: by links of many */
	bool multi_pid;	       /* such a link can be of one process */
	int perf_type;	       /* else: of the perf events that probe */
	bool task_pt_regs;     /* programs can find the registers of user space */
	bool perf_calls;       /* system calls: by a perf event */
	bool perf_tracepoints; /* other tracepoints: by perf events, all of them */
	struct bpf_program *programs[NR_PROBE_PROGRAMS];
	size_t attached; /* targets */
	unsigned int tries;
	uint64_t missed; /* as last taken */
	struct hook *hooks;
	size_t nr_hooks, hooks_capacity;
	bool *failed; /* by target */
	struct attach_failure *failures;
	size_t nr_failures, failures_capacity;
};

/* In attach_choose.c: fills which way it is. Returns 0 or a negative errno with error filled. */
int attachment__choose(struct attachment *attachment, struct error *error);

/* The number of the call if target is "syscalls:sys_enter_read" or the like, else -1. */
int target__system_call(const struct target *target, bool *entry);

/* Of the programs for system calls, that for their entries or returns. */
enum probe_program attachment__call_program(const struct attachment *attachment, bool entry);

/* In attach_many.c. Return 0 or a negative errno. */
int attachment__attach_kernel_many(struct attachment *attachment, const struct session *session);
int attachment__attach_user_many(struct attachment *attachment, const struct session *session);

/* In attach_one.c. Returns 0 or a negative errno. */
int attachment__attach_each(struct attachment *attachment, const struct session *session);

bool target_list__is_user_code(const struct target_list *list);

/* A descriptor; negative if it is not loaded. */
int attachment__program_fd(const struct attachment *attachment, enum probe_program program);

/* Takes over fd, which serves so many targets. Returns 0 or -ENOMEM. */
int attachment__keep(struct attachment *attachment, int fd, struct hook hook, size_t targets);

/* Each target is a failure once, for however many processes it fails. Returns 0 or -ENOMEM. */
int attachment__fail(struct attachment *attachment, const struct target *target, int code);

/* An error of the kernel that is about us rather than about the target. */
bool attach_error__is_ours(int code);

/* code, with error filled: why the kernel refuses. */
int attachment__refused(const struct attachment *attachment, int code, struct error *error);

#endif
