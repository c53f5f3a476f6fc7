/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the running kernel keeps the fields that bpf/task.bpf.h follows. */
#ifndef TRACEKIT_CORE_KERNEL_TYPES_H
#define TRACEKIT_CORE_KERNEL_TYPES_H

struct task_layout;

/*
 * Read from the kernel's BTF, which is parsed for it and freed again: some MB
 * for a moment. Returns 0, -ESRCH if the kernel has no BTF, or -ENOENT if
 * something is not in it; *layout is untouched on failure.
 */
int task_layout__read(struct task_layout *layout);

#endif
