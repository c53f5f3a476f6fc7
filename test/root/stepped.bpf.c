// SPDX-License-Identifier: GPL-2.0-or-later
/* Walk the user stack of a thread whenever it leaves its CPU: it does so when it stops. */
#include "test/root/stepped.h"

#include "bpf/stack.bpf.h"

struct stepped_walk last;

static __always_inline void take_walk(void *ctx, __u32 tgid)
{
	struct scratch *scratch = scratch__claim(0, tgid);

	if (!scratch)
		return;
	scratch->by_kernel = 0;
	scratch->walk.program = current_program();
	if (unwind_user(ctx, USER_WALK_FROM_KERNEL, scratch)) {
		last.walked = !scratch->by_kernel && scratch->stack.nr;
		last.nr = scratch->stack.nr;
		bpf_probe_read_kernel(last.frames, sizeof(last.frames), scratch->stack.frames);
		last.taken++;
	}
	scratch__release(scratch);
}

SEC("raw_tp")
int take_stepped_walk(void *ctx)
{
	__u32 tgid, tid;

	if (filter_current(&tgid, &tid) == EVENTS_SEEN && tid == READ_ONCE(last.tid))
		take_walk(ctx, tgid);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
