// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/cpus.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/kernel_fs.h"
#include "sym/util/number.h"

#define CPU_MAX 65535 /* far above NR_CPUS of any kernel */

/* "7" or "4-7" */
static int parse_range(char *word, uint64_t *first, uint64_t *last)
{
	char *to = word;
	char *from = strsep(&to, "-");

	if (number__parse(from, 0, CPU_MAX, first))
		return -EINVAL;
	*last = *first;
	return to && number__parse(to, *first, CPU_MAX, last) ? -EINVAL : 0;
}

int cpu_list__parse(const char *text, struct cpu_list *list)
{
	CLEANUP_FREE char *copy = strndup(text, strcspn(text, "\n"));
	CLEANUP_FREE unsigned int *cpus = NULL;
	size_t nr = 0, capacity = 0;
	char *rest = copy, *word;

	if (!copy)
		return -ENOMEM;
	while ((word = strsep(&rest, ","))) {
		uint64_t first, last;

		if (parse_range(word, &first, &last))
			return -EINVAL;
		for (uint64_t cpu = first; cpu <= last; cpu++) {
			if (ARRAY_GROW(cpus, nr, capacity))
				return -ENOMEM;
			cpus[nr++] = (unsigned int)cpu;
		}
	}
	*list = (struct cpu_list){.cpus = TAKE_POINTER(cpus), .nr = nr};
	return 0;
}

int cpu_list__parse_proc(FILE *file, struct cpu_list *list)
{
	CLEANUP_FREE unsigned int *cpus = NULL;
	CLEANUP_FREE char *line = NULL;
	size_t nr = 0, capacity = 0, size = 0;

	while (getline(&line, &size, file) >= 0) {
		char *rest = line, *word;

		while ((word = strsep(&rest, " \n"))) {
			uint64_t cpu;

			if (strncasecmp(word, "cpu", 3) ||
			    number__parse(word + 3, 0, CPU_MAX, &cpu))
				continue;
			if (ARRAY_GROW(cpus, nr, capacity))
				return -ENOMEM;
			cpus[nr++] = (unsigned int)cpu;
		}
	}
	if (!nr)
		return -EINVAL;
	*list = (struct cpu_list){.cpus = TAKE_POINTER(cpus), .nr = nr};
	return 0;
}

/* From a file in /sys or, without that, from one in /proc. */
static int read_list(struct cpu_list *list, const char *sys_name, const char *proc_path)
{
	CLEANUP_FCLOSE FILE *file = kernel_fs__open_file(KERNEL_FS_SYS, sys_name);
	CLEANUP_FCLOSE FILE *proc_file = file ? NULL : fopen(proc_path, "re");
	CLEANUP_FREE char *line = NULL;
	size_t size = 0;

	if (proc_file)
		return cpu_list__parse_proc(proc_file, list);
	if (!file)
		return -errno;
	if (getline(&line, &size, file) < 0)
		return -EIO;
	return cpu_list__parse(line, list);
}

int cpu_list__read_online(struct cpu_list *list)
{
	return read_list(list, "devices/system/cpu/online", "/proc/stat");
}

int cpus__count_possible(void)
{
	CLEANUP(cpu_list__release) struct cpu_list possible = {0};
	static int count;
	int err;

	if (!count) {
		err = read_list(&possible, "devices/system/cpu/possible", "/proc/softirqs");
		if (err)
			return err;
		count = (int)possible.nr;
	}
	return count;
}

int cpu_list__choose(struct cpu_list *list, uint64_t wanted, const char *option,
		     struct error *error)
{
	CLEANUP(cpu_list__release) struct cpu_list online = {0};
	bool found = wanted == EVERY_CPU;
	int err = cpu_list__read_online(&online);

	if (err)
		return error__set(error, err, "cannot list the online CPUs: %s; mount /proc",
				  strerror(-err));
	for (size_t i = 0; i < online.nr && !found; i++)
		found = online.cpus[i] == wanted;
	if (!found)
		return error__set(error, -ENODEV,
				  "%s %ju: is not online; /proc/cpuinfo lists those that are",
				  option, (uintmax_t)wanted);
	if (wanted != EVERY_CPU) {
		online.cpus[0] = (unsigned int)wanted;
		online.nr = 1;
	}
	*list = online;
	online = (struct cpu_list){0};
	return 0;
}

int cpu__check_online(uint64_t cpu, const char *option, struct error *error)
{
	CLEANUP(cpu_list__release) struct cpu_list list = {0};

	return cpu_list__choose(&list, cpu, option, error);
}

void cpu_list__release(struct cpu_list *list)
{
	free(list->cpus);
	*list = (struct cpu_list){0};
}
