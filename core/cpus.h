/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPUs there are. */
#ifndef TRACEKIT_CORE_CPUS_H
#define TRACEKIT_CORE_CPUS_H

#include <stddef.h>

struct cpu_list {
	unsigned int *cpus; /* ascending */
	size_t nr;
};

/*
 * The kernel's list format, "0-3,8" with an optional newline. Returns 0,
 * -EINVAL if text is not that, or -ENOMEM; *list is untouched on failure.
 */
int cpu_list__parse(const char *text, struct cpu_list *list);

/* The CPUs that are online now. 0, -ENOMEM, or why /sys cannot be read. */
int cpu_list__read_online(struct cpu_list *list);

void cpu_list__release(struct cpu_list *list);

#endif
