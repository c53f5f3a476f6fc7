// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/cost.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sym/util/cleanup.h"
#include "sym/util/number.h"
#include "sym/util/page.h"

int cost__measure(void)
{
	return bpf_enable_stats(BPF_STATS_RUN_TIME);
}

/* Add what /proc/PID/stat says: fields 14 to 17 are times, 24 is memory; see proc(5). */
static void add_process(struct cost *cost, pid_t pid)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	uint64_t user, kernel, waited_user, waited_kernel, pages;
	uint64_t tick = NANOSECONDS / (uint64_t)sysconf(_SC_CLK_TCK);
	char path[32], line[1024] = "";
	const char *behind_name;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		return;
	behind_name = strrchr(line, ')');
	if (!behind_name ||
	    sscanf(behind_name + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %*d %*d %*d %*d %*u %*u %" SCNu64,
		   &user, &kernel, &waited_user, &waited_kernel, &pages) != 5)
		return;
	cost->cpu_time += (user + kernel + waited_user + waited_kernel) * tick;
	cost->resident += pages * page_size();
	cost->processes++;
}

/* Our children that run. Theirs do not live for long, and are in what these have waited for. */
static void add_children(struct cost *cost, pid_t workload)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	char path[64];
	pid_t pid;

	/* Without CONFIG_PROC_CHILDREN they are missing. */
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	file = fopen(path, "re");
	while (file && fscanf(file, "%d", &pid) == 1)
		if (pid != workload)
			add_process(cost, pid);
}

static uint64_t run_time(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	int fd = bpf_program__fd(program);

	return fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.run_time_ns;
}

/* As the kernel accounts for it, from 6.4 on exactly. */
static uint64_t map_bytes(const struct bpf_map *map)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	uint64_t bytes = 0;
	char path[64], line[128];

	if (bpf_map__fd(map) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", bpf_map__fd(map));
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "memlock: %" SCNu64, &bytes) == 1)
			break;
	return bytes;
}

void cost__read(struct cost *cost, const struct bpf_object *object, pid_t workload)
{
	struct bpf_program *program;
	struct bpf_map *map;

	*cost = (struct cost){0};
	add_process(cost, getpid());
	add_children(cost, workload);
	bpf_object__for_each_program(program, object) cost->bpf_time += run_time(program);
	bpf_object__for_each_map(map, object) cost->maps += map_bytes(map);
}
