/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the running kernel keeps the fields that bpf/task.bpf.h follows. */
#ifndef TRACEKIT_CORE_KERNEL_TYPES_H
#define TRACEKIT_CORE_KERNEL_TYPES_H

#include <stdbool.h>
#include <stdint.h>

struct task_layout;

/*
 * True if programs can read the registers with which a thread entered the kernel:
 * bpf_task_pt_regs(), 5.15, which needs BTF. The kernel is asked once.
 */
bool task_registers__can_be_had(void);

/*
 * True if the kernel's BTF has this tracepoint: those of modules are not in it. Takes some MB for a
 * moment.
 */
bool kernel_types__have_tracepoint(const char *name);

/*
 * Read the layout from the kernel's BTF, which takes some MB for a moment. Returns 0, -ESRCH if the
 * kernel has no BTF, or -ENOENT if something is missing in it; *layout is untouched on failure.
 */
int task_layout__read(struct task_layout *layout);

/* Where these stand in a task_struct. */
struct thread_fields {
	uint32_t state, flags; /* offsets in bytes */
};

/* As task_layout__read(). */
int thread_fields__read(struct thread_fields *fields);

#endif
