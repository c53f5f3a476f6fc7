/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One BPF link for any number of functions, and whether the kernel can do that. */
#ifndef TRACEKIT_CORE_MULTI_LINK_H
#define TRACEKIT_CORE_MULTI_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a program of the type kprobe expects to be attached to, to be linked like this. */
#define ATTACH_TYPE_KPROBE_MULTI 42 /* Linux 5.18, with CONFIG_FPROBE */
#define ATTACH_TYPE_UPROBE_MULTI 48 /* Linux 6.6 */

/*
 * Of functions of the kernel, by their addresses. All or none: one that cannot be
 * probed fails the whole. Returns the link's descriptor or a negative errno.
 */
int multi_link__kernel(int program_fd, const uint64_t *addresses, size_t nr);

/*
 * Of places in a file: its inode gets the breakpoints, whatever its name is by now.
 * semaphores: offsets in the file, or NULL; pid: only in the memory of that
 * process, 0: of all. All or none, as above.
 */
int multi_link__user(int program_fd, int file_fd, const uint64_t *offsets,
		     const uint64_t *semaphores, size_t nr, pid_t pid);

/* Calls that the kernel did not have the program see; false if it does not say (before 6.7). */
bool multi_link__missed(int link_fd, uint64_t *missed);

/* Asked of the kernel, not of its version. */
bool multi_link__has_kernel(void);
bool multi_link__has_user(void);

/*
 * Whether the pid of multi_link__user() means a process: from 6.6 to 6.9 it meant
 * its first thread alone, and calls of the others were not seen (46ba0e49b642).
 */
bool multi_link__has_user_pid(void);

#endif
