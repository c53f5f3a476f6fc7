/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patterns as bpftrace, bcc and perf write them, which mean something else here, or nothing:
 * "tracepoint:sched:sched_switch", "kprobe:vfs_read", "sched:sched_switch", "libc:malloc"; and
 * paths with a ':' in them.
 */
#ifndef TRACEKIT_CORE_PROBE_OTHER_SYNTAX_H
#define TRACEKIT_CORE_PROBE_OTHER_SYNTAX_H

#include <stddef.h>

struct pid_list;

/*
 * Nothing matches text, a glob: write " (did you mean 't:sched:sched_switch'?)" to end the message
 * with, if text is a pattern of another tool, or has such a path, and matches something when it is
 * written as here; else nothing. pids are those of target_list__find(). The text is safe to print,
 * and cut to size bytes with a NUL.
 */
void other_syntax__hint(const char *text, const struct pid_list *pids, char *hint, size_t size);

#endif
