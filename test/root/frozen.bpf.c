// SPDX-License-Identifier: GPL-2.0-or-later
/* Sample a process: walk its user stack as profile does, and stop the process. */
#include "test/root/frozen.h"

#include "bpf/stack.bpf.h"

struct frozen_sample sample;

#define SIGSTOP 19

static __always_inline void take_sample(void *ctx, __u32 tgid, __u32 tid)
{
	struct scratch *scratch = scratch__claim(0, tgid);

	if (!scratch)
		return;
	scratch->by_kernel = 0;
	scratch->walk.program = current_program();
	if (unwind_user(ctx, USER_WALK_FROM_SAMPLE, scratch)) {
		sample.tid = tid;
		sample.walked = !scratch->by_kernel && scratch->stack.nr;
		sample.nr = scratch->stack.nr;
		bpf_probe_read_kernel(sample.frames, sizeof(sample.frames), scratch->stack.frames);
		/* Before the thread is in user space again. */
		sample.err = bpf_send_signal(SIGSTOP);
		sample.taken = sample.wanted;
	}
	scratch__release(scratch);
}

SEC("perf_event")
int take_frozen_sample(void *ctx)
{
	__u32 tgid, tid;

	if (filter_current(&tgid, &tid) != EVENTS_SEEN)
		return 0;
	/* Two that are here at a time may both give up: there will be another sample. */
	__sync_fetch_and_add(&sample.claims, 1);
	if (READ_ONCE(sample.claims) == 1 && READ_ONCE(sample.taken) != READ_ONCE(sample.wanted))
		take_sample(ctx, tgid, tid);
	__sync_fetch_and_add(&sample.claims, -1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
