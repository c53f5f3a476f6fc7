// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/follow.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "core/kernel/links.h"
#include "core/options/pid_list.h"
#include "core/options/trace_options.h"
#include "core/trace/maps.h"
#include "sym/child/proc_stat.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"

#define BYTES ((size_t)FOLLOWED_CHUNKS * FOLLOWED_CHUNK)

/* The ways to hear of a new task; the second is for kernels without BTF. */
static const char at_wakeup[] = "follow_raw_wakeup_new", at_birth[] = "follow_perf_newtask";
static const char at_exec[] = "follow_raw_exec";

static void set_autoload(struct bpf_object *object, const char *program, bool wanted)
{
	bpf_program__set_autoload(bpf_object__find_program_by_name(object, program), wanted);
}

int follow__configure(struct follow *follow, const struct trace_options *options,
		      const struct trace_maps *maps, struct bpf_object *object,
		      const struct trace_config *config, struct error *error)
{
	bool wanted = options->children || options->command;
	int err = trace_map__create_if(maps->followed, wanted, error);

	if (err || !wanted)
		return err;
	follow->object = object;
	follow->map = maps->followed;
	follow->config = config;
	set_autoload(object, at_wakeup, config->has_task_layout);
	set_autoload(object, at_birth, !config->has_task_layout);
	set_autoload(object, at_exec, options->command);
	return 0;
}

static int program_fd(const struct follow *follow, const char *program)
{
	return bpf_program__fd(bpf_object__find_program_by_name(follow->object, program));
}

static int cannot_attach(int code, const char *tracepoint, struct error *error)
{
	return error__set(
		error, code,
		"cannot follow what processes start: the tracepoint %s: %s; see 'tracekit doctor'",
		tracepoint, strerror(-code));
}

static int attach_at_exec(struct follow *follow, struct error *error)
{
	int fd = bpf_raw_tracepoint_open("sched_process_exec", program_fd(follow, at_exec));

	if (fd < 0)
		return cannot_attach(fd, "sched_process_exec", error);
	follow->hooks[follow->nr_hooks++] = fd;
	return 0;
}

static int attach(struct follow *follow, struct error *error)
{
	bool raw = follow->config->has_task_layout;
	int fd = raw ? bpf_raw_tracepoint_open("sched_wakeup_new", program_fd(follow, at_wakeup)) :
		       link__tracepoint(program_fd(follow, at_birth), "task/task_newtask");

	if (fd < 0)
		return cannot_attach(fd, raw ? "sched_wakeup_new" : "task_newtask", error);
	follow->hooks[follow->nr_hooks++] = fd;
	return 0;
}

int follow__start(struct follow *follow, const struct pid_list *pids, struct error *error)
{
	void *bytes;
	int err;

	if (!follow->object)
		return 0;
	bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(follow->map), 0);
	if (bytes == MAP_FAILED)
		return error__set(error, -errno, "cannot map who is followed: %s", strerror(errno));
	follow->bytes = bytes;
	err = attach(follow, error);
	if (!err && follow->config->workload)
		err = attach_at_exec(follow, error);
	/* In a PID namespace we do not know the numbers: the map targets has the caller's. */
	for (size_t i = 0; i < pids->nr && !err && !follow->config->pidns_ino; i++)
		if ((size_t)pids->pids[i] < BYTES)
			follow->bytes[pids->pids[i]] = true;
	return err;
}

/* In a PID namespace it is left to the hook. */
void follow__workload(const struct follow *follow)
{
	if (!follow->config->pidns_ino && follow->config->workload < BYTES)
		follow->bytes[follow->config->workload] = true;
}

bool follow__anyone(const struct follow *follow)
{
	CLEANUP_CLOSEDIR DIR *directory = opendir("/proc");
	pid_t pid;

	while (follow->bytes && (pid = proc_directory__next(directory)))
		if ((size_t)pid < BYTES && (uint32_t)pid != follow->config->workload &&
		    follow->bytes[pid])
			return true;
	return false;
}

void follow__release(struct follow *follow)
{
	for (int i = 0; i < follow->nr_hooks; i++)
		close(follow->hooks[i]);
	if (follow->bytes)
		munmap(follow->bytes, BYTES);
	*follow = (struct follow){0};
}
