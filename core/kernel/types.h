/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the running kernel keeps the fields that bpf/task.bpf.h and bpf/mapping.bpf.h follow. */
#ifndef TRACEKIT_CORE_KERNEL_TYPES_H
#define TRACEKIT_CORE_KERNEL_TYPES_H

#include <stdbool.h>
#include <stdint.h>

struct mapping_layout;
struct task_layout;

/*
 * True if programs can read the registers with which a thread entered the kernel:
 * bpf_task_pt_regs(), 5.15, which needs BTF. The kernel is asked once.
 */
bool task_registers__can_be_had(void);

/*
 * Load a program that reads the kernel's memory, and let it go. Returns 0, -EINVAL if no program
 * may (lockdown=confidentiality), or another negative errno.
 */
int kernel_memory__try(void);

/* True if the kernel's BTF has this tracepoint: those of modules are not in it. */
bool kernel_types__have_tracepoint(const char *name);

/*
 * Read the layout from the kernel's BTF, which takes some milliseconds. Returns 0, -ESRCH if the
 * kernel has no BTF, -ENOENT if something is missing in it, or another negative errno; *layout is
 * untouched on failure.
 */
int task_layout__read(struct task_layout *layout);

/* Where mappings stand. Returns as task_layout__read(). */
int mapping_layout__read(struct mapping_layout *layout);

/* Where these stand in a task_struct. */
struct thread_fields {
	uint32_t state, flags; /* offsets in bytes */
};

/* As task_layout__read(). */
int thread_fields__read(struct thread_fields *fields);

#endif
