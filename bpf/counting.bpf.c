// SPDX-License-Identifier: GPL-2.0-or-later
/* The programs of all applets that count by stacks; each has those loaded that it needs. */
#include "stack.bpf.h"

static __always_inline struct scratch *claim_event(__u32 in_epoch, __u32 tgid, __u32 tid)
{
	struct scratch *scratch = claim_key(in_epoch, tgid);

	if (scratch && config.key_by_thread)
		scratch->key.tid = tid;
	return scratch;
}

/* Count the event that has begun. */
static __always_inline void end_event(void *ctx, enum user_walk user_walk, struct scratch *scratch,
				      bool walked)
{
	enum event_counter outcome = store_stacks(ctx, user_walk, scratch, walked);

	if (outcome == EVENTS_COUNTED)
		outcome = count_key(&scratch->key, &scratch->first, 0);
	count_event(scratch->epoch, outcome);
	scratch__release(scratch);
}

#include "probes.bpf.h"
#include "waits.bpf.h"

/* profile: where a CPU is, at each sample. */
SEC("?perf_event")
int profile_sample(void *ctx)
{
	on_event(ctx, USER_WALK_FROM_SAMPLE);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
