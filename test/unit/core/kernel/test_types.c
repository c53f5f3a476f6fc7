// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks in test/root/ follow the offsets, and show that they are right. */
#include "core/kernel/types.h"

#include <string.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "test/unit/tap.h"

#define BTF "/sys/kernel/btf/vmlinux"

/* False, and the test is skipped, if the kernel has no BTF. */
static bool read_layout(struct task_layout *layout)
{
	memset(layout, 0xff, sizeof(*layout));
	if (access(BTF, R_OK)) {
		tap_skip("no " BTF);
		return false;
	}
	return CHECK_INT(task_layout__read(layout), 0);
}

static void offsets_are_plausible(void)
{
	struct task_layout layout;

	if (!read_layout(&layout))
		return;
	/* Behind thread_info or what is first in a task, on which much else depends. */
	CHECK(layout.task_group_leader > 0 && layout.task_group_leader < 65536);
	CHECK(layout.task_thread_pid > 0 && layout.task_thread_pid < 65536);
	CHECK(layout.task_pid > 0 && layout.task_pid < 65536);
	CHECK(layout.task_nsproxy > 0 && layout.task_nsproxy < 65536);
	/* nsproxy begins with its count, pid with its own. */
	CHECK(layout.nsproxy_mnt_ns > 0 && layout.nsproxy_mnt_ns < 1024);
	CHECK(layout.mnt_ns_inum < 4096);
	CHECK(layout.pid_level > 0 && layout.pid_level < 1024);
	CHECK(layout.pid_numbers > layout.pid_level && layout.pid_numbers < 1024);
	CHECK(layout.upid_nr < layout.upid_size && layout.upid_ns < layout.upid_size);
	CHECK(layout.upid_size >= sizeof(int) + sizeof(void *) && layout.upid_size < 256);
	CHECK(layout.pid_ns_inum < 4096);
}

static void offsets_of_pointers_are_aligned(void)
{
	struct task_layout layout;

	if (!read_layout(&layout))
		return;
	CHECK_INT(layout.task_group_leader % sizeof(void *), 0);
	CHECK_INT(layout.task_thread_pid % sizeof(void *), 0);
	CHECK_INT(layout.task_nsproxy % sizeof(void *), 0);
	CHECK_INT(layout.nsproxy_mnt_ns % sizeof(void *), 0);
	CHECK_INT(layout.pid_numbers % sizeof(void *), 0);
	CHECK_INT(layout.upid_ns % sizeof(void *), 0);
	CHECK_INT(layout.upid_size % sizeof(void *), 0);
	CHECK_INT(layout.mnt_ns_inum % sizeof(int), 0);
	CHECK_INT(layout.pid_level % sizeof(int), 0);
	CHECK_INT(layout.upid_nr % sizeof(int), 0);
	CHECK_INT(layout.pid_ns_inum % sizeof(int), 0);
}

static void members_of_one_struct_differ(void)
{
	struct task_layout layout;

	if (!read_layout(&layout))
		return;
	CHECK(layout.task_group_leader != layout.task_thread_pid);
	CHECK(layout.task_group_leader != layout.task_nsproxy);
	CHECK(layout.task_thread_pid != layout.task_nsproxy);
	CHECK(layout.upid_nr != layout.upid_ns);
}

static void twice_the_same(void)
{
	struct task_layout once, twice;

	if (read_layout(&once) && read_layout(&twice))
		CHECK(!memcmp(&once, &twice, sizeof(once)));
}

static void tracepoints_have_types(void)
{
	if (access(BTF, R_OK)) {
		tap_skip("no " BTF);
		return;
	}
	CHECK(kernel_types__have_tracepoint("sched_switch"));
	CHECK(kernel_types__have_tracepoint("sys_enter"));
	CHECK(!kernel_types__have_tracepoint("sys_enter_read"));
	CHECK(!kernel_types__have_tracepoint(""));
}

static const struct tap_test tests[] = {
	{"offsets in kernel structs are plausible", offsets_are_plausible},
	{"pointers and numbers lie where they can", offsets_of_pointers_are_aligned},
	{"members of one struct lie apart", members_of_one_struct_differ},
	{"they are the same when read again", twice_the_same},
	{"tracepoints are found by their types", tracepoints_have_types},
};

int main(void)
{
	return TAP_RUN(tests);
}
