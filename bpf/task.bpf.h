/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running task's namespaces, for which there is no helper.
 *
 * The offsets come from the kernel's BTF by way of user space, and only if an
 * option or a PID namespace asks for them. CO-RE would be the usual way, but one
 * relocation anywhere in an object makes libbpf read all of the kernel's BTF at
 * each start: some MB, and more time than the rest of a start takes.
 */
#ifndef TRACEKIT_BPF_TASK_H
#define TRACEKIT_BPF_TASK_H

#include "common.bpf.h"
#include "config.bpf.h"

/* Returns 0 if it cannot read: a NULL pointer, and no inode and no ID of anything. */
static __always_inline __u64 read_pointer(__u64 address)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (const void *)address);
	return value;
}

static __always_inline __u32 read_u32(__u64 address)
{
	__u32 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (const void *)address);
	return value;
}

/* The struct mm_struct of the running process. */
static __always_inline __u64 current_mm(void)
{
	return read_pointer(bpf_get_current_task() + config.mapping.task_mm);
}

/* As of struct stack_key. */
static __always_inline __u64 current_program(void)
{
	return config.find_files ? read_pointer(current_mm() + config.mapping.mm_start_stack) : 0;
}

static __always_inline __u64 current_mount_namespace(void)
{
	__u64 nsproxy = read_pointer(bpf_get_current_task() + config.task.task_nsproxy);

	return read_u32(read_pointer(nsproxy + config.task.nsproxy_mnt_ns) +
			config.task.mnt_ns_inum);
}

/* MAX_PID_NS_LEVEL of the kernel; level 0 is the initial namespace, never the caller's here. */
#define PID_LEVEL_MAX 32

/* The number that a struct pid has in the caller's PID namespace, 0 for none. */
static __noinline __u32 pid_number(__u64 pid)
{
	__u32 level = read_u32(pid + config.task.pid_level);
	__u64 upid = pid + config.task.pid_numbers;

	for (__u32 i = 1; i <= PID_LEVEL_MAX; i++) {
		if (i > level)
			break;
		upid += config.task.upid_size;
		if (read_u32(read_pointer(upid + config.task.upid_ns) + config.task.pid_ns_inum) ==
		    config.pidns_ino)
			return read_u32(upid + config.task.upid_nr);
	}
	return 0;
}

/* Also for processes of namespaces below the caller's. */
static __always_inline bool current_ids_by_walk(__u32 *tgid, __u32 *tid)
{
	__u64 task = bpf_get_current_task();
	__u64 leader = read_pointer(task + config.task.task_group_leader);

	*tgid = pid_number(read_pointer(leader + config.task.task_thread_pid));
	*tid = pid_number(read_pointer(task + config.task.task_thread_pid));
	return *tgid != 0;
}

/* The IDs of the running thread in the caller's PID namespace; false if it has none there. */
static __always_inline bool current_ids(__u32 *tgid, __u32 *tid)
{
	struct bpf_pidns_info ns;

	if (config.pidns_ino == 0) {
		__u64 pid_tgid = bpf_get_current_pid_tgid();

		*tgid = pid_tgid >> 32;
		*tid = (__u32)pid_tgid;
		return true;
	}
	if (config.has_task_layout)
		return current_ids_by_walk(tgid, tid);
	/* Without BTF: the helper finds only threads of that very namespace, none below it. */
	if (bpf_get_ns_current_pid_tgid(config.pidns_dev, config.pidns_ino, &ns, sizeof(ns)))
		return false;
	*tgid = ns.tgid;
	*tid = ns.pid;
	return true;
}

#endif
