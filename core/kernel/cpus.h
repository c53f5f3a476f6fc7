/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs of the machine. */
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
 * The kernel's list format, "0-3,8" with an optional newline. Returns 0, -EINVAL if text has
 * another format, or -ENOMEM; *list is untouched on failure.
 */
int cpu_list__parse(const char *text, struct cpu_list *list);

/* The CPUs that are online now, from /sys or /proc. Returns 0 or a negative errno. */
int cpu_list__read_online(struct cpu_list *list);

/*
 * The number of CPUs that can ever be online, as many as per-CPU maps have values; or a negative
 * errno, as above. The kernel is asked once.
 */
int cpus__count_possible(void);

/*
 * The CPUs that a file of /proc names by words such as "cpu7" or "CPU7": /proc/stat has a line
 * for each that is online, /proc/softirqs a column for each that is possible. Returns 0,
 * -EINVAL if it names none, or -ENOMEM; *list is untouched on failure.
 */
int cpu_list__parse_proc(FILE *file, struct cpu_list *list);

/*
 * All online CPUs, for EVERY_CPU, or the wanted one, if it is online; messages name option ("-C").
 * Returns 0 or a negative errno with error filled and *list untouched.
 */
#define EVERY_CPU UINT64_MAX
int cpu_list__choose(struct cpu_list *list, uint64_t wanted, const char *option,
		     struct error *error);

/*
 * Check that a CPU is online; messages name option ("-C"). Returns 0, or a negative errno with
 * error filled.
 */
int cpu__check_online(uint64_t cpu, const char *option, struct error *error);

void cpu_list__release(struct cpu_list *list);

#endif
