/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors that keep a BPF program attached, and which of them the kernel can make: it is asked,
 * its version is not used to guess (but for raw tracepoints).
 */
#ifndef TRACEKIT_CORE_KERNEL_LINKS_H
#define TRACEKIT_CORE_KERNEL_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event_attr;

/* The types of links of many, as a program of the type kprobe expects them. */
#define ATTACH_TYPE_KPROBE_MULTI 42 /* Linux 5.18, with CONFIG_FPROBE */
#define ATTACH_TYPE_UPROBE_MULTI 48 /* Linux 6.6 */

/*
 * Link to kernel functions, by their addresses. All or none: a function that cannot be probed fails
 * the link. Returns the link's descriptor or a negative errno.
 */
int link__kernel_functions(int program_fd, const uint64_t *addresses, size_t nr);

/* The same by their names, which need not be known as addresses: each has to be the only one. */
int link__kernel_names(int program_fd, const char *const *names, size_t nr);

/*
 * Link to places in a file: its inode gets the breakpoints, whatever its name is by now.
 * semaphores: offsets in the file, or NULL; pid: only in the memory of this process; 0: of all. All
 * or none, as above.
 */
int link__user_code(int program_fd, int file_fd, const uint64_t *offsets,
		    const uint64_t *semaphores, size_t nr, pid_t pid);

/*
 * Attach to a perf event as attr describes it, of process pid or, with 0, of all. Fills in
 * attr->size. Returns a descriptor or a negative errno.
 */
int link__perf_event(int program_fd, struct perf_event_attr *attr, pid_t pid);

/* The type of perf events that probe; kind: "kprobe" or "uprobe". Or a negative errno. */
int link__perf_type(const char *kind);

/*
 * Attach to the event of tracefs that path names, as in "sched/sched_switch". Returns a descriptor
 * or a negative errno.
 */
int link__tracepoint(int program_fd, const char *path);

/*
 * Close descriptors, several at a time: what close() of a link waits for in the kernel, an RCU
 * grace period, threads wait for together (100 uprobe.multi links: 0.13 s instead of 3.6 s).
 * Perf events that probe gain little: the kernel closes them under one lock.
 */
void links__close(const int *fds, size_t nr);

/*
 * Events that the kernel withheld from the program and that only the link counts; false if this
 * kernel counts none (before 6.7).
 */
bool link__missed(int fd, uint64_t *missed);

/*
 * True if a raw tracepoint's program can be preempted: then other threads on its CPU are not
 * traced, and counted as missed. This is so from 7.0 on, where tracepoints are called in an SRCU
 * section, and every kernel of x86 and arm64 preempts (in a guest with 7.2, one in ten calls was
 * seen of eight threads that did nothing but getppid()). The kernel cannot be asked, so this looks
 * at its version. Perf events disable preemption: they are right on all versions, and only slower
 * to detach.
 */
bool link__raw_tracepoints_miss(void);

/* True if the kernel has a raw tracepoint of this name whose argument of this number exists. */
bool link__raw_tracepoint_has(const char *name, unsigned int argument);

/*
 * True if kernel.ftrace_enabled is 0. Kernel functions can be attached to then, but are never hit.
 * And kernels can lose count: when such probes are detached, 5.10 and 6.1 warn, and refuse to
 * attach to any function until the next boot (ENODEV).
 */
bool link__kernel_functions_off(void);

/* Return 1, 0, or a negative errno if asking needs more privileges. */
int link__has_kernel_functions(void);
int link__has_user_code(void);

/*
 * True if the pid of link__user_code() means a process: from 6.6 to 6.9 it meant the first thread
 * alone, and calls of the others were not seen (46ba0e49b642).
 */
bool link__has_user_pid(void);

#endif
