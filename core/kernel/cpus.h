/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPUs there are. */
#ifndef TRACEKIT_CORE_KERNEL_CPUS_H
#define TRACEKIT_CORE_KERNEL_CPUS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct error;

struct cpu_list {
	unsigned int *cpus; /* ascending */
	size_t nr;
};

/*
 * The kernel's list format, "0-3,8" with an optional newline. Returns 0,
 * -EINVAL if text is not that, or -ENOMEM; *list is untouched on failure.
 */
int cpu_list__parse(const char *text, struct cpu_list *list);

/* The CPUs that are online now. 0, -ENOMEM, or why neither /sys nor /proc can be read. */
int cpu_list__read_online(struct cpu_list *list);

/*
 * How many CPUs can ever be online: so many values per-CPU maps have. Or a negative errno, as
 * above. The kernel is asked once.
 */
int cpus__count_possible(void);

/*
 * The CPUs that a file of /proc names by words such as "cpu7" or "CPU7": /proc/stat has a line
 * for each that is online, /proc/softirqs a column for each that is possible. Returns 0,
 * -EINVAL if it names none, or -ENOMEM; *list is untouched on failure.
 */
int cpu_list__parse_proc(FILE *file, struct cpu_list *list);

/*
 * The online CPUs, or the wanted one, which option ("-C") names, if it is online. Returns
 * 0 or a negative errno with error filled and *list untouched.
 */
#define EVERY_CPU UINT64_MAX
int cpu_list__choose(struct cpu_list *list, uint64_t wanted, const char *option,
		     struct error *error);

/*
 * Whether the CPU that option ("-C") names is online: 0, or a negative errno with error
 * filled.
 */
int cpu__check_online(uint64_t cpu, const char *option, struct error *error);

void cpu_list__release(struct cpu_list *list);

#endif
