/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by all ways of attaching; only attach*.c and semaphores.c include it. */
#ifndef TRACEKIT_CORE_PROBE_ATTACHMENT_H
#define TRACEKIT_CORE_PROBE_ATTACHMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/probe/attach.h"

struct bpf_program;
struct target;
struct target_file;
struct tracepoint;

/* An errno of the kernel that libc does not know. */
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

/* What a descriptor that keeps something attached is. */
struct hook {
	bool slow;	     /* a perf event: the kernel takes its time to close it */
	bool misses_in_link; /* the link counts some of the events that the program does not see */
};

struct attachment {
	const struct target_list *targets;
	const struct pid_list *pids;
	bool multi;	       /* functions and user code: by links of many */
	bool multi_pid;	       /* such a link can be limited to one process */
	int perf_type;	       /* else: type of the perf events that probe */
	bool task_pt_regs;     /* programs can find the registers of user space */
	bool perf_calls;       /* system calls: by a perf event */
	bool perf_tracepoints; /* other tracepoints: by perf events, all of them */
	struct bpf_program *programs[NR_PROBE_PROGRAMS];
	size_t attached; /* targets */
	unsigned int tries;
	uint64_t missed; /* the sum when it was last taken */
	struct hook *hooks;
	int *fds; /* of the hooks */
	size_t nr_hooks, hooks_capacity, fds_capacity;
	bool *failed; /* by target */
	struct attach_failure *failures;
	size_t nr_failures, failures_capacity;
	struct semaphores *semaphores; /* NULL: the kernel counts all of them right */
	int semaphores_error;	       /* or why they are left as the kernel has them */
};

/* In attach_choose.c: choose the way. Returns 0 or a negative errno with error filled. */
int attachment__choose(struct attachment *attachment, struct error *error);

/* True if a raw tracepoint is tried for it, before a perf event. */
bool attachment__takes_raw(const struct attachment *attachment,
			   const struct tracepoint *tracepoint);

/* The program for entries into system calls, or for their returns. */
enum probe_program attachment__call_program(const struct attachment *attachment, bool entry);

/* In attach_many.c. Return 0 or a negative errno. */
int attachment__attach_kernel_many(struct attachment *attachment, const struct session *session);
int attachment__attach_user_many(struct attachment *attachment, const struct session *session);

/* In attach_one.c. Returns 0 or a negative errno. */
int attachment__attach_each(struct attachment *attachment, const struct session *session);

bool target_list__is_user_code(const struct target_list *list);

/*
 * For how many processes, of file->pids, the targets of a file are attached one by one; 0: for all
 * processes at once, and BPF programs drop the events of others.
 */
size_t attachment__one_by_one(const struct attachment *attachment, const struct target_file *file);

/* The program's descriptor; negative if it is not loaded. */
int attachment__program_fd(const struct attachment *attachment, enum probe_program program);

/* Takes over fd, which serves so many targets. Returns 0 or -ENOMEM. */
int attachment__keep(struct attachment *attachment, int fd, struct hook hook, size_t targets);

/*
 * Count each target as a failure once, for however many processes it fails. Returns 0 or -ENOMEM.
 */
int attachment__fail(struct attachment *attachment, const struct target *target, int code);

/* True if the kernel's error is about us rather than about the target. */
bool attach_error__is_ours(int code);

/* Fill error with the kernel's reason to refuse. Returns code. */
int attachment__refused(const struct attachment *attachment, int code, struct error *error);

#endif
