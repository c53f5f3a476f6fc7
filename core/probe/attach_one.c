// SPDX-License-Identifier: GPL-2.0-or-later
/* Targets one by one: perf events and raw tracepoints. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>

#include "core/kernel/links.h"
#include "core/options/pid_list.h"
#include "core/probe/attachment.h"
#include "core/probe/syscall_numbers.h"
#include "core/probe/targets.h"
#include "core/trace/session.h"
#include "sym/util/array.h"
#include "sym/util/error.h"

/* fd: a perf event, or the negative errno why there is none. */
static int keep_event(struct attachment *attachment, const struct target *target, int fd,
		      bool counts)
{
	if (fd >= 0)
		return attachment__keep(attachment, fd,
					(struct hook){.slow = true,
						      .misses_in_link = !target_list__is_user_code(
							      attachment->targets)},
					counts);
	if (attach_error__is_ours(fd))
		return fd;
	return attachment__fail(attachment, target, fd);
}

static int attach_kernel_function(struct attachment *attachment, const struct target *target)
{
	struct perf_event_attr attr = {.type = (uint32_t)attachment->perf_type};

	if (target->address)
		attr.kprobe_addr = target->address;
	else
		attr.kprobe_func = (uintptr_t)target->name;
	return keep_event(
		attachment, target,
		link__perf_event(attachment__program_fd(attachment, KERNEL_FUNCTION), &attr, 0),
		true);
}

/* The upper half of a uprobe's config is the place of its semaphore (4.20, a6ca88b241d5). */
#define SEMAPHORE_SHIFT 32

static int attach_user_code(struct attachment *attachment, const struct target *target)
{
	struct perf_event_attr attr = {.type = (uint32_t)attachment->perf_type};
	const struct target_file *file = &attachment->targets->files[target->file];
	size_t pids = attachment__one_by_one(attachment, file);
	bool counts = true;
	char path[64];
	int err = 0;

	if (target->misread)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	attr.config = target->semaphore << SEMAPHORE_SHIFT;
	attr.uprobe_path = (uintptr_t)path;
	attr.probe_offset = target->address;
	for (size_t i = 0; i < (pids ? pids : 1) && !err; i++) {
		int fd = link__perf_event(attachment__program_fd(attachment, USER_CODE), &attr,
					  pids ? file->pids[i] : 0);

		if (fd == -ESRCH)
			continue; /* the process has ended */
		err = keep_event(attachment, target, fd, counts);
		counts = false;
	}
	return err;
}

/* A descriptor, or a negative errno. */
static int open_perf_tracepoint(const struct attachment *attachment,
				const struct tracepoint *tracepoint, enum probe_program program)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	struct error error;
	uint64_t id = 0;
	int err = tracepoint_list__read_id(&attachment->targets->tracepoints, tracepoint, &id,
					   &error);

	attr.config = id;
	return err ? err : link__perf_event(attachment__program_fd(attachment, program), &attr, 0);
}

/* Some events have no tracepoint of their name in the code: new system calls, dynamic ones. */
static int attach_tracepoint(struct attachment *attachment, const struct target *target)
{
	const struct target_list *list = attachment->targets;
	const struct tracepoint *tracepoint =
		&list->tracepoints.tracepoints[target - list->targets];
	int fd = -ENOENT;
	bool entry;

	if (syscall_of_tracepoint(target->name, &entry) >= 0) {
		attachment->attached++; /* by attach_system_calls() */
		return 0;
	}
	if (attachment__takes_raw(attachment, tracepoint))
		fd = bpf_raw_tracepoint_open(tracepoint->name,
					     attachment__program_fd(attachment, RAW_TRACEPOINT));
	if (fd >= 0)
		return attachment__keep(attachment, fd, (struct hook){0}, 1);
	if (attach_error__is_ours(fd))
		return fd;
	if (attachment__program_fd(attachment, PERF_TRACEPOINT) < 0)
		return attachment__fail(attachment, target, fd);
	fd = open_perf_tracepoint(attachment, tracepoint, PERF_TRACEPOINT);
	if (fd == -EINVAL && tracepoint->dynamic)
		/* Dynamic events that are kprobes or uprobes run programs of that type. */
		fd = open_perf_tracepoint(attachment, tracepoint, KERNEL_FUNCTION);
	return keep_event(attachment, target, fd, true);
}

static int attach_system_calls(struct attachment *attachment)
{
	static const struct tracepoint sides[] = {
		{.category = "raw_syscalls", .name = "sys_exit"},
		{.category = "raw_syscalls", .name = "sys_enter"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		enum probe_program program = attachment__call_program(attachment, i == 1);
		int fd = attachment__program_fd(attachment, program), err;

		if (fd < 0)
			continue; /* not needed, not loaded */
		fd = attachment->perf_calls ? open_perf_tracepoint(attachment, &sides[i], program) :
					      bpf_raw_tracepoint_open(sides[i].name, fd);
		if (fd < 0)
			return fd;
		err = attachment__keep(attachment, fd,
				       (struct hook){.slow = attachment->perf_calls,
						     .misses_in_link = attachment->perf_calls},
				       0);
		if (err)
			return err;
	}
	return 0;
}

static int attach_one(struct attachment *attachment, const struct target *target)
{
	switch (attachment->targets->kind) {
	case PROBE_KERNEL_FUNCTION:
		return attach_kernel_function(attachment, target);
	case PROBE_TRACEPOINT:
		return attach_tracepoint(attachment, target);
	default:
		return attach_user_code(attachment, target);
	}
}

int attachment__attach_each(struct attachment *attachment, const struct session *session)
{
	int err =
		attachment->targets->kind == PROBE_TRACEPOINT ? attach_system_calls(attachment) : 0;

	for (size_t i = 0; i < attachment->targets->nr && !err; i++) {
		if (session__stopping(session))
			break;
		err = attach_one(attachment, &attachment->targets->targets[i]);
	}
	return err;
}
