/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keeps a BPF program attached, and what the kernel can do in that respect: asked
 * of it, not guessed from its version.
 */
#ifndef TRACEKIT_CORE_PROBE_LINKS_H
#define TRACEKIT_CORE_PROBE_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event_attr;

/* What a program of the type kprobe expects to be attached to, to be linked to many. */
#define ATTACH_TYPE_KPROBE_MULTI 42 /* Linux 5.18, with CONFIG_FPROBE */
#define ATTACH_TYPE_UPROBE_MULTI 48 /* Linux 6.6 */

/*
 * To functions of the kernel, by their addresses. All or none: one that cannot be
 * probed fails the whole. Returns the link's descriptor or a negative errno.
 */
int link__kernel_functions(int program_fd, const uint64_t *addresses, size_t nr);

/*
 * To places in a file: its inode gets the breakpoints, whatever its name is by now.
 * semaphores: offsets in the file, or NULL; pid: only in the memory of that
 * process, 0: of all. All or none, as above.
 */
int link__user_code(int program_fd, int file_fd, const uint64_t *offsets,
		    const uint64_t *semaphores, size_t nr, pid_t pid);

/*
 * To a perf event of a process or, with 0, of all; of what attr says, whose size is
 * filled in. Returns a descriptor or a negative errno.
 */
int link__perf_event(int program_fd, struct perf_event_attr *attr, pid_t pid);

/*
 * Events that the kernel did not have the program see, of what only the link knows;
 * false if this kernel counts none (before 6.7).
 */
bool link__missed(int fd, uint64_t *missed);

/*
 * Whether a raw tracepoint's program can be preempted: while it is, other threads on
 * its CPU are not traced, and counted as missed. From 7.0 on, where tracepoints are
 * called in an SRCU section, and every kernel of x86 and arm64 preempts (in a guest with
 * 7.2, eight threads that did nothing but getppid() were seen in one of ten calls).
 * There is nothing to ask the kernel for, so this looks at its version; perf events,
 * which disable preemption, are right on all, and only slower to detach.
 */
bool link__raw_tracepoints_miss(void);

/* 1, 0, or a negative errno if that cannot be asked without more privileges. */
int link__has_kernel_functions(void);
int link__has_user_code(void);

/*
 * Whether the pid of link__user_code() means a process: from 6.6 to 6.9 it meant
 * its first thread alone, and calls of the others were not seen (46ba0e49b642).
 */
bool link__has_user_pid(void);

#endif
