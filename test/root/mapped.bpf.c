// SPDX-License-Identifier: GPL-2.0-or-later
/* Look up addresses of any process: see mapped.c. */
#include "test/root/mapped.h"
#include "bpf/mapping.bpf.h"

__u32 wanted_tid;
__u64 addresses[ADDRESSES];
struct answer answers[ADDRESSES];
__u32 answered;

static struct mapping_search search;

/* Verified once, not for each address. */
__noinline int look_up_one(__u64 mm, __u32 number)
{
	struct answer *answer = &answers[number % ADDRESSES];

	mapping__find_vma(&search, mapping__root(mm), addresses[number % ADDRESSES]);
	answer->outcome = mapping__find(&search, mm, addresses[number % ADDRESSES]);
	answer->changing = search.changing;
	answer->found = search.found;
	return 0;
}

/* The context that the kernel gives, as far as it is used. */
struct tasks {
	void *meta;
	void *task;
};

SEC("iter/task")
int look_up(struct tasks *ctx)
{
	__u64 task = (__u64)ctx->task, mm;

	if (!task || read_u32(task + config.task.task_pid) != wanted_tid)
		return 0;
	mm = read_pointer(task + config.mapping.task_mm);
	for (__u32 i = 0; i < ADDRESSES; i++)
		look_up_one(mm, i);
	answered++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
